//! What docs/reference/cli.md promises, sentence by sentence, each with the test that holds the program to it. A sentence that is new
//! or changed has to find its test here.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::Cli;
use keyway_testkit::workspace_root;
use std::collections::BTreeSet;
use std::path::Path;

/// The beginning of a sentence, or of a row of a table, and its tests.
const CLAIMS: &[(&str, &str)] = &[
    ("What is written here keeps its meaning", "exit_codes_are_the_contract each_kind_is_produced_by_a_test"),
    ("`keyway VERB -h` shows", "the_short_help_fits_one_screen"),
    ("`keyway VERB --help` shows", "every_verb_shows_two_examples every_example_in_the_help_is_a_command"),
    (
        "`VOLUME` is a file or a block device.",
        "what_is_no_volume_is_4 a_loop_device_passes_discards_on_and_zeroes_in_full",
    ),
    (
        "Its format is found out;",
        "every_truecrypt_and_veracrypt_generation_shows_its_file_system cat_gives_what_windows_put_in",
    ),
    ("`--format` only narrows it.", "format_only_narrows"),
    (
        "**Secrets** are prompted for",
        "secrets_come_from_standard_input_descriptors_and_keyfiles a_typed_password_is_not_shown \
         a_terminal_is_asked_on_whatever_standard_input_is",
    ),
    (
        "Enter alone is no password",
        "enter_alone_is_asked_about_again an_empty_new_password_is_asked_for_again",
    ),
    ("A BitLocker volume also opens by", "every_secret_that_was_made_opens_it cat_gives_what_windows_put_in"),
    (
        "No secret is ever an argument",
        "a_password_is_no_argument no_secret_is_on_the_serving_process_s_command_line",
    ),
    (
        "`--recovery-password` as the last word",
        "a_recovery_password_is_known_wherever_it_is_typed a_recovery_password_is_known_in_files",
    ),
    (
        "On a terminal it may be typed three times",
        "a_wrong_password_may_be_typed_three_times a_drive_has_no_keyfile_and_counts_what_is_wrong",
    ),
    ("A new password is asked for when", "a_new_password_is_asked_for_when_the_old_one_was_right"),
    (
        "One that is easily guessed is told",
        "each_weak_new_password_is_told an_easily_guessed_password_is_told_before_it_is_typed_again",
    ),
    ("A file that should hold a password", "an_empty_password_file_is_told_as_that"),
    ("Secrets are asked for after that", "who_agrees_is_asked_for_secrets_then"),
    ("`status` names this user's conversions", "what_a_killed_conversion_leaves_is_taken_away"),
    ("After a wrong password", "each_wrong_secret_has_its_code_and_its_word"),
    (
        "A new recovery password that goes into no file",
        "nothing_is_made_whose_recovery_password_nobody_would_read \
         a_volume_whose_recovery_password_was_told_to_nobody_goes_again_or_tells_it_later",
    ),
    (
        "What a killed server left `status` lists",
        "what_a_killed_server_left_is_listed_and_told_by_whoever_clears_it_away",
    ),
    (
        "Of what another user has open both end with 5",
        "what_root_has_open_is_not_permitted_to_others_and_not_closed",
    ),
    (
        "`close` of one whose protection of a hidden volume refused writes",
        "a_protected_hidden_volume_survives_writes_to_the_outer_one",
    ),
    (
        "So they do where the folder of its session was taken away",
        "a_logout_that_empties_the_runtime_folder_closes_what_is_open \
         a_volume_whose_session_nobody_finds_is_open_and_the_way_to_close_it_is_told",
    ),
    ("`pause` of what is paused already", "a_paused_volume_says_what_it_is_and_what_to_do"),
    (
        "Of what the same user has open with sessions in another folder",
        "who_has_it_open_from_elsewhere_hears_the_command_that_closes_it",
    ),
    (
        "`encrypt` tells it in words as soon as",
        "a_conversion_tells_its_recovery_password_before_the_long_work",
    ),
    (
        "`pause` and `resume`, which make none",
        "a_conversion_tells_its_recovery_password_before_the_long_work",
    ),
    ("While a file system's own tool makes it", "signals_wait_for_the_file_systems_tool"),
    ("A file whose name is too long for one", "a_journal_that_can_not_be_made_is_refused_in_the_plan"),
    ("A recovery password that can't be one", "each_wrong_secret_has_its_code_and_its_word"),
    ("`--tpm` asks", "a_tpm_alone_opens_it tpm_pin_and_startup_key_open_it"),
    ("Nothing of the password itself is shown.", "a_slip_is_told_and_found_in_both_formats"),
    (
        "`--try-variants` tries, after the password",
        "a_slip_is_told_and_found_in_both_formats each_slip_is_undone",
    ),
    ("Each takes as long as a wrong password", "there_are_few_of_them_and_each_once"),
    (
        "It is for the volume's own password",
        "nothing_is_tried_unasked_or_beside_what_is_right what_is_half_converted_takes_another_spelling",
    ),
    ("A new password is never tried", "nothing_is_tried_unasked_or_beside_what_is_right"),
    ("Where a part of what was asked for", "a_secret_that_not_every_copy_got_is_handed_over"),
    ("`put VOLUME FILE` puts a file", "what_is_put_is_listed_and_comes_back"),
    ("`put VOLUME FILE TO` into", "several_files_and_folders_are_put_and_patterns_bring_them_back"),
    ("With more words the last one", "several_files_and_folders_are_put_and_patterns_bring_them_back"),
    (
        "A `TO` that ends in `/`",
        "several_files_and_folders_are_put_and_patterns_bring_them_back \
         what_can_not_be_put_into_other_file_systems_leaves_nothing_behind",
    ),
    ("A `TO` that is a file or folder here", "two_files_are_not_one_with_a_new_name"),
    (
        "Folders come with all that is in them",
        "several_files_and_folders_are_put_and_patterns_bring_them_back",
    ),
    (
        "What stands against any of the files",
        "several_files_and_folders_are_put_and_patterns_bring_them_back",
    ),
    ("In exFAT, what was there before stays whole", "no_power_cut_costs_what_was_there"),
    (
        "A file system that was not unmounted",
        "an_unclean_file_system_is_not_written_to what_can_not_be_put_leaves_nothing_behind",
    ),
    ("`put` writes exFAT and FAT itself.", "what_is_put_is_listed_and_comes_back"),
    (
        "Any other file system is mounted for that moment",
        "what_is_put_into_other_file_systems_is_there_and_their_tools_find_them_in_order \
         a_user_without_root_puts_files_into_an_ntfs a_user_without_root_puts_files_into_an_ext4",
    ),
    ("Where none is there, the", "where_nothing_writes_to_it_the_package_or_root_is_named"),
    (
        "A new file has the permissions",
        "what_is_put_into_other_file_systems_is_there_and_their_tools_find_them_in_order",
    ),
    (
        "Each is on the medium",
        "ctrl_c_takes_back_what_was_begun_and_a_crash_leaves_what_can_be_closed \
         what_can_not_be_put_into_other_file_systems_leaves_nothing_behind",
    ),
    (
        "Ctrl-C takes the unfinished one back,",
        "ctrl_c_takes_back_what_was_begun_and_a_crash_leaves_what_can_be_closed \
         a_copy_that_is_interrupted_leaves_no_part_of_a_file",
    ),
    (
        "One that is killed leaves it open:",
        "ctrl_c_takes_back_what_was_begun_and_a_crash_leaves_what_can_be_closed",
    ),
    (
        "`status` names it, `close` closes it.",
        "ctrl_c_takes_back_what_was_begun_and_a_crash_leaves_what_can_be_closed",
    ),
    ("What mounts it is in no sandbox", "a_hidden_volume_in_an_ext4_is_kept_whole"),
    (
        "`--dry-run` mounts it for",
        "what_is_put_into_other_file_systems_is_there_and_their_tools_find_them_in_order \
         a_file_system_that_was_not_left_in_order_is_mended_by_its_mount_or_refused",
    ),
    ("`get` takes several paths", "several_are_copied_into_a_folder_that_is_there"),
    ("Of two words the second one", "several_are_copied_into_a_folder_that_is_there"),
    (
        "What there is no room for here",
        "a_copy_without_room_is_refused_before_it_begins a_copy_that_had_no_room_says_how_it_goes_on",
    ),
    ("No file is there under its name", "a_copy_that_had_no_room_says_how_it_goes_on"),
    ("Where that is in the volume, too", "two_that_are_in_the_volume_are_not_one_with_a_new_name"),
    (
        "The path of `get` and of `ls` is a pattern",
        "several_files_and_folders_are_put_and_patterns_bring_them_back",
    ),
    ("`*` and `?` in a name", "several_files_and_folders_are_put_and_patterns_bring_them_back"),
    ("`[*]` is the letter itself.", "several_files_and_folders_are_put_and_patterns_bring_them_back"),
    ("Quote it, so that the shell", "several_files_and_folders_are_put_and_patterns_bring_them_back"),
    ("Each file keeps its path behind", "several_files_and_folders_are_put_and_patterns_bring_them_back"),
    (
        "`get V '/photos/**/*.jpg' out` makes",
        "several_files_and_folders_are_put_and_patterns_bring_them_back",
    ),
    ("In FAT, exFAT and NTFS capitals", "several_files_and_folders_are_put_and_patterns_bring_them_back"),
    ("`VOLUME` may be a whole disk", "the_only_bitlocker_partition_is_meant"),
    ("Which one that is stands on standard error", "the_only_bitlocker_partition_is_meant"),
    ("`--partition N` names one", "what_can_not_be_told_is_asked_for"),
    ("`info` lists them:", "what_can_not_be_told_is_asked_for"),
    ("`{\"format\":null,\"disk\"", "what_can_not_be_told_is_asked_for"),
    ("What changes a volume (`protector`", "noise_is_opened_and_not_changed_unless_it_is_named"),
    (
        "`encrypt`, `decrypt` and `resize` take a partition's",
        "what_is_changed_is_the_partition_and_nothing_else",
    ),
    ("Of a disk's device the kernel's own device", "an_open_partition_is_written_through_its_disk"),
    ("A partition of an encrypted system", "the_bare_partition_device_opens"),
    ("`--system-header FILE_OR_DEVICE`", "an_image_of_the_partition_opens_with_the_header_from_its_drive"),
    ("`drive` takes a drive's device", "wrong_secrets_and_conventions_are_explained users"),
    ("A PSID is typed from a label", "back_to_the_factory"),
    ("`--psid TEXT-OR-FILE`.", "back_to_the_factory"),
    ("A folder to mount on, a keyfile", "all_users_have_those_of_the_machine"),
    ("`favourite add VOLUME [MOUNTPOINT]` takes", "a_favourite_is_opened_closed_and_read_by_its_name"),
    ("No secret is kept.", "no_secret_is_kept_and_only_its_owner_reads_what_is"),
    (
        "`open`, `close`, `status`, `info`, `ls`, `get`, `put` and `cat` take the name",
        "a_favourite_is_opened_closed_and_read_by_its_name all_users_have_those_of_the_machine",
    ),
    ("With `--at-boot`, `at_boot = true` in the second file", "the_units_of_a_table_are_what_systemd_takes"),
    (
        "`credential:NAME` in the place of a path",
        "a_credential_is_a_file_of_the_services_folder_and_nothing_else a_service_opens_its_favourite",
    ),
    ("`open --close-when-idle TIME` closes", "a_volume_that_nobody_uses_closes_by_itself"),
    ("`open --cache` has the block device", "what_fio_writes_it_finds_again_past_the_cache"),
    ("It needs root and FUSE.", "it_is_refused_where_it_can_not_be"),
    ("`open` and `serve` do nothing with discards", "a_container_gets_holes_when_allowed_and_not_before"),
    (
        "`open`, `serve`, `ls`, `get`, `put` and `cat` give up",
        "what_serves_is_confined_by_every_way_and_closes_cleanly",
    ),
    ("`doctor` says under `sandbox`", "doctor_says_what_it_would_choose"),
    (
        "`ls`, `get`, `cat`, `info` with a secret, `header check`,",
        "who_searches_for_a_key_is_confined_meanwhile a_search_in_the_sandbox_finds_and_tells_what_it_did",
    ),
    (
        "`encrypt`, `decrypt` and `resume` do so before the first",
        "who_converts_a_volume_is_confined_until_it_is_through_and_leaves_nothing",
    ),
    (
        "With `--require-sandbox` those that have it refuse",
        "who_converts_a_volume_that_is_in_use_is_confined_and_leaves_nothing",
    ),
    ("What is in a volume is not read or changed", "what_is_open_is_neither_read_nor_changed_beside_it"),
    (
        "`ls`, `get`, `cat`, `put`, `resize`, `erase`, what",
        "what_is_open_is_neither_read_nor_changed_beside_it",
    ),
    ("Beside a volume that was opened with", "who_reads_and_who_writes_are_kept_apart"),
    ("`info`, `header check`, `header backup`, `protector", "the_header_alone_is_looked_at_beside_it"),
    ("`--json` prints one JSON document", "every_verb_answers_in_one_document"),
    (
        "`cat` and `get … -` are asked for",
        "what_is_cut_off_because_the_reader_went_away_ends_with_141_and_no_word",
    ),
    ("`-v` tells more:", "auto_says_why why_a_volume_is_attached_as_it_is_is_told_to_who_asks"),
    ("`-q` leaves out", "quiet_leaves_out_remarks_and_keeps_warnings"),
    ("`keyway help VERB` is", "help_is_asked_for_as_elsewhere"),
    ("What is for people goes to standard output", "quiet_leaves_out_remarks_and_keeps_warnings"),
    (
        "Where standard output is closed, full or can't",
        "what_was_asked_for_is_not_swallowed_where_nothing_takes_it what_was_done_is_said_to_be_where_its_answer_can_not_be_written",
    ),
    (
        "A reader that went away undoes nothing",
        "what_is_cut_off_because_the_reader_went_away_ends_with_141_and_no_word",
    ),
    ("**Progress** is a bar", "progress_is_told_as_it_was_asked_for a_bar_gives_way_to_what_is_said"),
    ("Before one that takes long", "a_long_search_for_the_key_is_announced_and_ctrl_c_ends_it"),
    ("`--progress none` leaves it out", "progress_is_told_as_it_was_asked_for"),
    (
        "`--log FILE`, or the variable",
        "a_log_tells_what_was_done_and_no_secret every_verb_is_in_the_log_and_no_secret_is",
    ),
    ("Serving processes write there", "a_log_tells_what_was_done_and_no_secret"),
    ("What of an open volume could not", "what_could_not_be_read_is_logged_by_its_place_and_length"),
    (
        "A new file is its owner's alone",
        "a_log_is_its_owners_and_is_appended_to a_log_tells_what_was_done_and_no_secret",
    ),
    ("No secret is ever in it.", "a_log_tells_what_was_done_and_no_secret"),
    ("What destroys data asks", "what_destroys_asks"),
    ("What writes has `--dry-run`", "what_writes_has_a_dry_run"),
    ("A secret is asked for where the plan depends", "a_conversion_is_looked_at_and_nothing_else"),
    ("| 0 |", "exit_codes_are_the_contract"),
    ("| 1 |", "what_is_not_there_is_1_and_a_folder_is_4"),
    ("| 2 |", "wrong_usage_is_2"),
    ("| 3 |", "a_wrong_secret_is_3"),
    ("| 4 |", "what_is_no_volume_is_4"),
    ("| 5 |", "what_is_not_permitted_is_5"),
    ("| 6 |", "a_file_in_use_is_busy_and_stays_open"),
    ("| 7 |", "what_is_not_there_is_1_and_a_folder_is_4"),
    ("| 141 |", "what_is_cut_off_because_the_reader_went_away_ends_with_141_and_no_word"),
    (
        "Without `--exit-code`, `status`",
        "what_is_not_there_is_1_and_a_folder_is_4 what_is_not_open_can_be_closed_where_that_is_no_failure",
    ),
    (
        "Ctrl-C at a question",
        "control_c_ends_a_question an_interrupted_create_leaves_nothing \
         a_copy_that_is_interrupted_leaves_no_part_of_a_file",
    ),
    (
        "`interrupted`, `paused` or `stopped`.",
        "control_c_ends_a_question a_paused_volume_says_what_it_is_and_what_to_do",
    ),
    ("Where nothing has begun that could be", "a_long_search_for_the_key_is_announced_and_ctrl_c_ends_it"),
    ("A file that is not there ends with 1", "what_is_not_there_is_1_and_a_folder_is_4"),
    (
        "A folder, a pipe, a socket or",
        "what_is_not_there_is_1_and_a_folder_is_4 what_would_wait_for_ever_is_refused",
    ),
    ("An error is one line", "an_error_is_one_line_that_says_what_and_one_that_says_what_to_do"),
    ("With `--json` it is", "what_does_not_exist_is_wrong_usage"),
    ("[Self-encrypting drives](../guide", "somebody_with_a_drive_that_encrypts_by_itself"),
    ("[What the documents", "every_link_leads_somewhere"),
    ("[Every kind of error]", "the_page_says_what_the_program_says"),
    ("[When a volume won't open]", "somebody_whose_volumes_won_t_open"),
    ("| `demo` |", "the_tour_works_and_leaves_nothing"),
    (
        "| `create PATH",
        "a_hidden_volume_that_the_new_secret_opens_is_kept creating_loses_nothing hidden_volumes_ask_before_they_overwrite one_protector_is_enough_and_none_is_too_few \
         a_hidden_volume_is_made_over_nothing_of_the_outer_file_system",
    ),
    ("| `open VOLUME", "auto_says_why what_is_open_is_mounted_later"),
    ("| `favourite add", "a_favourite_is_opened_closed_and_read_by_its_name"),
    (
        "| `close VOLUME",
        "what_is_not_open_can_be_closed_where_that_is_no_failure a_volume_that_was_deleted_is_not_closed_without_a_word",
    ),
    ("| `encrypt DEVICE`", "a_file_system_becomes_a_volume_gets_new_keys_and_becomes_a_file_system_again"),
    (
        "| `decrypt VOLUME`",
        "a_file_system_becomes_a_volume_gets_new_keys_and_becomes_a_file_system_again every_file_system_becomes_a_volume_and_itself_again",
    ),
    (
        "| `pause VOLUME`",
        "a_paused_volume_says_what_it_is_and_what_to_do killing_it_at_any_moment_loses_nothing",
    ),
    (
        "| `resize VOLUME",
        "a_container_gets_larger_and_smaller_with_its_file_system ntfs_follows_too what_can_not_follow_is_told_before",
    ),
    (
        "| `status [VOLUME]`",
        "status_and_info_say_hardware_encryption a_file_system_is_told_as_what_it_is the_partition_is_named_by_status_and_before_it_is_erased",
    ),
    ("| `info VOLUME`", "info_tells_what_is_known_with_and_without_a_secret"),
    ("| `cat VOLUME", "dd_through_fuse_is_what_cat_shows"),
    ("| `ls VOLUME", "what_is_put_is_listed_and_comes_back"),
    (
        "| `get VOLUME",
        "what_is_put_is_listed_and_comes_back refusals_have_their_exit_codes an_interrupted_copy_out_goes_on \
         a_copy_under_another_name_goes_on no_copy_replaces_a_volume",
    ),
    (
        "| `put VOLUME",
        "what_is_put_is_listed_and_comes_back names_that_windows_has_not_stop_nothing_half_way",
    ),
    ("| `protector list", "what_is_not_named_stays"),
    ("| `protector add", "protectors_come_go_and_change a_protector_is_added_used_and_removed"),
    ("| `protector recovery", "protectors_come_go_and_change"),
    ("| `protector suspend", "protection_is_suspended_and_resumed"),
    (
        "| `header backup",
        "a_backup_file_opens_with_the_old_secret metadata_is_checked_repaired_backed_up_and_restored",
    ),
    ("| `header repair", "a_lost_first_sector_is_found_out_and_made_anew"),
    ("| `erase VOLUME`", "an_erased_volume_opens_by_nothing"),
    ("| `drive list", "profiles_are_what_info_then_says"),
    ("| `drive setup", "one_command_from_the_factory_to_a_locked_drive"),
    ("| `drive lock", "one_command_from_the_factory_to_a_locked_drive ranges"),
    ("| `drive range", "ranges"),
    ("| `drive user", "users a_range_of_a_users_own"),
    ("| `drive mbr", "the_shadow_and_the_store"),
    ("| `drive store", "the_shadow_and_the_store"),
    ("| `drive erase", "ranges"),
    ("| `drive revert", "back_to_the_factory"),
    ("| `drive block", "back_to_the_factory"),
    ("| `drive emulate", "profiles_are_what_info_then_says"),
    ("| `serve VOLUME", "serve_stays_until_it_is_told_to_end a_volume_is_served_with_tls_and_not_without"),
    ("| `bench` |", "bench_has_the_promised_shape"),
    (
        "| `lab compare",
        "a_comparison_keeps_the_contract_and_its_page_can_be_drawn_again another_programs_encryption_is_measured_in_turn_with_ours",
    ),
    ("| `lab study", "studies_are_listed_and_their_report_replaces_nothing"),
    ("| `lab report", "a_comparison_keeps_the_contract_and_its_page_can_be_drawn_again"),
    ("| `lab models`", "models_stand_beside_what_was_published_of_them what_was_recorded_is_what_was_done"),
    ("| `doctor [DRIVE]` |", "doctor_tells_what_is_encrypted_and_with_what"),
    ("[encrypt-a-drive.md]", "somebody_who_encrypts_a_drive"),
    ("`encrypt` takes:", "somebody_who_encrypts_a_drive"),
    (
        "`--used-space-only`:",
        "used_space_only_takes_as_long_as_what_is_used free_space_is_left_filled_or_trimmed",
    ),
    ("`--reencrypt`:", "a_file_system_becomes_a_volume_gets_new_keys_and_becomes_a_file_system_again"),
    ("A BitLocker volume gets a new data key", "a_volume_gets_another_method_and_keeps_what_opens_it"),
    ("The result says both, now and before", "what_is_not_named_stays_as_it_was"),
    ("`--reencrypt --format FORMAT`", "a_volume_goes_to_bitlocker_and_back_and_others_read_it"),
    ("`--cipher` and `--hash` are the new volume's", "what_is_not_named_stays_as_it_was"),
    ("`--hardware`:", "encrypting_by_hardware_takes_seconds_and_keeps_everything"),
    ("After `decrypt --hardware`", "encrypting_by_hardware_takes_seconds_and_keeps_everything"),
    ("A conversion's journal is on the volume", "a_journal_goes_with_its_volume_or_is_named"),
    ("`resume`, `status`, `info` and `pause` look", "a_journal_that_is_out_of_reach_is_asked_for"),
    ("`resume` asks for the secret", "nothing_is_cleaned_up_without_the_secret"),
    ("`--dry-run` says what becomes", "a_conversion_is_looked_at_and_nothing_else"),
    ("A secret is asked for only where", "a_conversion_is_looked_at_and_nothing_else"),
    ("Where none is given and nobody can be asked", "a_conversion_is_looked_at_and_nothing_else"),
    ("With `--online`,", "a_volume_is_written_while_it_is_converted_and_keeps_what_was_written"),
    ("Pausing such a conversion", "what_is_not_built_or_can_not_be_is_refused"),
    ("`--nbd ADDRESS [--tls", "a_volume_is_served_with_tls_and_not_without"),
    ("`--any-local-user`: a loopback", "only_the_serving_user_and_root_come_in_by_a_loopback_port"),
    (
        "`status --json` counts",
        "nobody_takes_the_owners_place_by_connecting only_the_serving_user_and_root_come_in_by_a_loopback_port",
    ),
    ("`--vhost-user SOCKET`:", "a_guest_and_keyway_read_each_other"),
    (
        "`--nvme-tcp ADDRESS [--nvme-secret FILE]`: the kernel's",
        "a_volume_is_served_to_whom_knows_the_secret other_machines_are_served_if_they_must_prove_a_secret",
    ),
    ("`--size SIZE [--profile NAME]`", "profiles_are_what_info_then_says"),
    (
        "`--nvme-tcp ADDRESS [--nvme-secret FILE]` serves",
        "a_kernel_sedutil_and_cryptsetup_take_it_for_a_drive",
    ),
    ("`--any-local-user` is as for", "only_the_serving_user_and_root_come_in_by_a_loopback_port"),
    ("SIGUSR1 takes its power", "a_kernel_sedutil_and_cryptsetup_take_it_for_a_drive"),
    ("`--fault FAULT,…`", "unknown_profiles_and_faults_are_wrong_usage"),
    ("Ciphers are `aes`", "every_cipher_and_hash_opens_as_what_it_was_made"),
];

/// The page's sentences, and the rows of its tables.
fn sentences(page: &str) -> Vec<String> {
    let mut all = Vec::new();
    for block in page.split("\n\n").map(str::trim).filter(|block| !block.starts_with('#')) {
        if block.starts_with('|') {
            all.extend(block.lines().skip(2).map(str::to_owned));
            continue;
        }
        let mut items: Vec<String> = Vec::new();
        for line in block.lines() {
            match (line.strip_prefix("- "), items.last_mut()) {
                (None, Some(item)) => *item = format!("{item} {}", line.trim()),
                (item, _) => items.push(item.unwrap_or(line).to_owned()),
            }
        }
        items.iter().for_each(|item| all.extend(split(item)));
    }
    all
}

/// At a full stop, colon or semicolon that a sentence follows, outside of what is code.
fn split(item: &str) -> Vec<String> {
    let (mut parts, mut begin, mut code) = (Vec::new(), 0, false);
    let bytes = item.as_bytes();
    for (at, byte) in item.bytes().enumerate() {
        code ^= byte == b'`';
        let next = bytes.get(at + 2).copied().unwrap_or_default();
        let ends = b".:;".contains(&byte) && bytes.get(at + 1) == Some(&b' ');
        if ends && !code && (next.is_ascii_uppercase() || b"`*[".contains(&next)) {
            parts.push(item[begin..=at].trim().to_owned());
            begin = at + 1;
        }
    }
    parts.push(item[begin..].trim().to_owned());
    parts
}

fn source(folder: &Path, all: &mut String) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            source(&path, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            all.push_str(&std::fs::read_to_string(path).expect("text"));
        }
    }
}

#[test]
fn every_sentence_of_the_page_has_its_test() {
    let page = std::fs::read_to_string(workspace_root().join("docs/reference/cli.md")).expect("the page");
    let said = sentences(&page);
    let claim = |sentence: &String| CLAIMS.iter().filter(|(begins, _)| sentence.starts_with(begins)).count();
    let without: Vec<&String> = said.iter().filter(|sentence| claim(sentence) != 1).collect();
    assert!(without.is_empty(), "these have no test, or two claims: {without:#?}");
    let unsaid: Vec<&str> = CLAIMS
        .iter()
        .map(|(begins, _)| *begins)
        .filter(|begins| !said.iter().any(|one| one.starts_with(begins)))
        .collect();
    assert!(unsaid.is_empty(), "the page does not say this any more: {unsaid:#?}");
    let mut tests = String::new();
    for folder in [
        "crates/keyway-cli/tests",
        "crates/keyway/src",
        "crates/keyway-fs/tests",
        "crates/keyway-mount/tests",
    ] {
        source(&workspace_root().join(folder), &mut tests);
    }
    let named: BTreeSet<&str> = CLAIMS.iter().flat_map(|(_, tests)| tests.split(' ')).collect();
    let missing: Vec<&&str> = named.iter().filter(|name| !tests.contains(&format!("fn {name}("))).collect();
    assert!(missing.is_empty(), "no such tests: {missing:?}");
}

const WITH: &str = "--password-file @pw --pim 1 --hash sha512";

#[test]
fn format_only_narrows() {
    let cli = Cli::new();
    cli.volume("v");
    for format in ["", "--format veracrypt"] {
        assert_eq!(cli.json(0, &format!("info @v {format} {WITH}"))["format"], "veracrypt");
    }
    cli.fails(3, "wrong-secret", "", &format!("info @v --format truecrypt {WITH}"));
}

#[test]
fn every_verb_answers_in_one_document() {
    let cli = Cli::new();
    cli.volume("v");
    // `json` takes nothing but one whole document.
    for words in [
        "status",
        "status @v",
        "info @v",
        "doctor",
        "close --all",
        "lab models samsung-840-pro",
        "lab run --list",
        "lab study --list",
        "bench --cipher aes --buffer 4K --threads 1 --no-kdf",
    ] {
        assert!(cli.json(0, words).is_object(), "{words}");
    }
    for words in [
        "info @v",
        "protector list @v",
        "header check @v",
        "header backup @v @backup",
        "resize @v --size 2M --yes",
    ] {
        assert!(cli.json(0, &format!("{words} {WITH}")).is_object(), "{words}");
    }
    for words in ["info @nothing", "open @nothing", "frobnicate", "close @v"] {
        let done = cli.run(&format!("{words} --json"));
        let document: serde_json::Value = serde_json::from_slice(&done.stdout).expect("one document");
        assert_eq!(document["error"]["code"].as_i64(), done.status.code().map(i64::from), "{words}");
    }
}

#[test]
fn the_header_alone_is_looked_at_beside_it() {
    let cli = Cli::new();
    cli.volume("v");
    cli.ends(0, &format!("open @v --attach nbd {WITH}"));
    for words in ["info @v", "header check @v", "header backup @v @backup", "protector list @v"] {
        cli.ends(0, &format!("{words} {WITH}"));
    }
    cli.ends(0, "close @v");
}

#[test]
fn quiet_leaves_out_remarks_and_keeps_warnings() {
    let cli = Cli::new();
    cli.keyway.secret("pw", "short");
    let words = "create @v --size 1M --quick --password-file @pw --pim 1";
    let done = cli.ends(0, &format!("{words} -q"));
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(out.contains("A new volume is in "), "{out}");
    assert!(
        err.lines().all(|line| line.starts_with("keyway: warning: ")) && err.lines().count() >= 2,
        "{err}"
    );
}

#[test]
fn what_destroys_asks() {
    let cli = Cli::new();
    cli.volume("v");
    cli.ends(0, "drive emulate @d --size 16M");
    let before = std::fs::read(cli.path("v")).expect("the volume");
    let backup = format!("header backup @v @backup {WITH}");
    cli.ends(0, &backup);
    for words in [
        format!("create @v --size 1M --force --quick {WITH}"),
        format!("create @v --hidden 256K {WITH} --hidden-password-file @pw2"),
        format!("erase @v {WITH}"),
        format!("encrypt @v --reencrypt {WITH}"),
        format!("header restore @v @backup {WITH}"),
    ] {
        cli.keyway.secret("pw2", "another one of twenty letters");
        let error = &cli.json(2, &words)["error"];
        assert!(
            error["message"].as_str().is_some_and(|said| said.starts_with("nothing was done")),
            "{words}: {error}"
        );
        assert!(std::fs::read(cli.path("v")).expect("the volume") == before, "{words} changed it");
    }
    cli.refused("usage", "nothing was done", "drive revert @d --psid 12345678123456781234567812345678");
}

#[test]
fn what_writes_has_a_dry_run() {
    let cli = Cli::new();
    for verb in [
        "create",
        "open",
        "close",
        "get",
        "put",
        "favourite add",
        "favourite remove",
        "protector add",
        "protector remove",
        "protector change",
        "protector suspend",
        "protector resume",
        "header backup",
        "header restore",
        "header repair",
        "erase",
        "encrypt",
        "decrypt",
        "resume",
        "resize",
        "drive setup",
        "drive erase",
        "drive revert",
        "drive range set",
        "drive user password",
        "drive mbr write",
        "drive store write",
    ] {
        let help = String::from_utf8(cli.ends(0, &format!("{verb} --help")).stdout).expect("text");
        assert!(help.contains("--dry-run"), "{verb} has none");
    }
}
