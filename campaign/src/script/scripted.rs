//! Workloads of a few steps each, for going through every single operation.

use crate::script::Act;

/// A workload with a name.
#[derive(Clone, Copy, Debug)]
pub struct Scripted {
    /// What it is about.
    pub name: &'static str,
    /// Decides about the choices of its steps.
    pub seed: u64,
    /// Its steps.
    pub acts: &'static [Act],
}

/// All of them.
pub const SCRIPTED: [Scripted; 14] = [
    Scripted {
        name: "remember",
        seed: 2,
        acts: &[Act::Remember, Act::RememberMany(6), Act::Again, Act::Twice, Act::Turn],
    },
    Scripted {
        name: "correct",
        seed: 19,
        acts: &[
            Act::RememberMany(6),
            Act::Replace,
            Act::Edit,
            Act::Narrow,
            Act::Fact,
            Act::Fact,
            Act::Relate,
        ],
    },
    Scripted {
        name: "forget",
        seed: 4,
        acts: &[
            Act::RememberMany(8),
            Act::RememberMany(8),
            Act::Forget,
            Act::Forget,
            Act::Restore,
            Act::Forget,
        ],
    },
    Scripted {
        name: "archive and undo",
        seed: 19,
        acts: &[Act::RememberMany(10), Act::Policy, Act::Plan, Act::Archive, Act::Undo],
    },
    Scripted {
        name: "several tenants",
        seed: 5,
        acts: &[Act::RememberMany(4), Act::RememberMany(4), Act::RememberMany(4), Act::ArchiveAll, Act::Undo],
    },
    Scripted {
        name: "purge",
        seed: 21,
        acts: &[Act::RememberMany(8), Act::Forget, Act::Forget, Act::Purge, Act::Purge, Act::Compact],
    },
    Scripted {
        name: "wipe",
        seed: 8,
        acts: &[Act::RememberMany(4), Act::RememberMany(4), Act::RememberMany(4), Act::Wipe, Act::Remember],
    },
    Scripted {
        name: "compact",
        seed: 9,
        acts: &[Act::RememberMany(12), Act::Forget, Act::Compact, Act::Remember, Act::Compact],
    },
    Scripted {
        name: "freeze and thaw",
        seed: 17,
        acts: &[Act::RememberMany(12), Act::Archive, Act::Freeze, Act::Feedback, Act::Feedback],
    },
    Scripted {
        name: "purge what is cold",
        seed: 21,
        acts: &[
            Act::RememberMany(8),
            Act::Archive,
            Act::Freeze,
            Act::Feedback,
            Act::Forget,
            Act::Purge,
            Act::Compact,
        ],
    },
    Scripted {
        name: "consolidate",
        seed: 11,
        acts: &[Act::Preference, Act::Preference, Act::Preference, Act::Preference, Act::Consolidate],
    },
    Scripted {
        name: "index files",
        seed: 12,
        acts: &[Act::RememberMany(140), Act::Checkpoint, Act::Edit, Act::Reopen, Act::Remember],
    },
    Scripted { name: "import", seed: 13, acts: &[Act::Remember, Act::Import, Act::Reopen, Act::Turn] },
    Scripted {
        name: "due and reopen",
        seed: 14,
        acts: &[Act::Brief, Act::Policy, Act::ForgetDue, Act::Reopen, Act::Pass, Act::Relate],
    },
];
