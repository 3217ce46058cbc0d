//! What the tests share: foreign volumes, tools that may be missing, reference models.
