//! Inputs on which memory systems have failed their users, each as a kind with the law
//! that rules it out.
//!
//! | Kind | Law | Module | Tests |
//! |---|---|---|---|
//! | the contrary: allowed and not allowed, love and hate, 可以 and 不可以 | of two statements that cannot both hold the later does, the earlier is history | [`contradiction`] | `the_later_of_two_contrary_statements_holds_and_the_earlier_is_history`, `a_mind_changed_many_times_leaves_one_statement`, `contrary_statements_in_one_batch_are_seen_even_as_the_first_of_a_tenant`, `the_first_two_writers_of_a_tenant_see_each_other`, `the_later_of_two_values_is_the_first_hit_even_alone`, `a_statement_of_one_speaker_does_not_overturn_that_of_another` |
//! | a greeting; yesterday, where the asker is; "my sister" | what is asked for is understood before it is looked for | [`understanding`] | all of the module |
//! | "never recommend X", and a card that praises X | what is ruled out is not recommended | [`exclusion`] | all of the module |
//! | "do not forget to", doubled negation | a negated negation is none | [`contradiction`] | `a_reminder_not_to_forget_affirms`, `two_negations_are_none` |
//! | "now it is red"; one correction among many facts | a correction reaches its fact, and only that | [`contradiction`] | `a_follow_up_*`, `follow_ups_may_follow_each_other`, `the_same_follow_up_after_another_statement_is_about_that`, `one_correction_among_six_facts_touches_only_its_fact` |
//! | numbers, dates, models, people, order of words differ | what only looks alike is never merged | [`likeness`] | `look_alikes_*`, `the_same_words_of_different_people_or_things_are_different_cards`, `the_same_event_at_another_time_is_another_event`, `a_turn_is_an_event_but_a_fact_with_its_turn_is_still_a_fact` |
//! | the same text at once, a hundred times | the same statement is one card per tenant, and counts | [`likeness`] | `a_hundred_threads_*`, `the_same_text_a_hundred_times_in_one_batch_is_one_card`, `what_a_repetition_adds_is_kept` |
//! | the same from two imports; a preference told often | what says the same is one card by its own comparison, what sums up never grows and is never a source | [`merging`] | all of the module |
//! | contrary statements and other values from imports; what somebody took back | the later in time holds, by a plan; an undo is the last word until something changes | [`superseding`] | all of the module |
//! | a plan that waited; a budget met meanwhile; a model that fails half way | what a run does is judged when it does it, and told afterwards | [`running`] | all of the module |
//! | recalled text fed back | an echo is no evidence | [`likeness`] | `recalled_text_fed_back_for_many_rounds_adds_nothing`, `a_conclusion_repeated_at_once_*` |
//! | emptying a tenant; a filter value such as `*` | forgetting reaches what it names, and nothing else | [`deletion`] | `emptying_one_tenant_*`, `no_value_of_a_filter_stands_for_everything` |
//! | a fact from two conversations | a fact lives as long as one of its sources | [`deletion`] | `a_fact_told_in_two_sessions_*`, `a_fact_told_outside_of_sessions_*`, `by_condition_pinned_cards_stay_*` |
//! | a deleted card among the hits | what is forgotten is in no read and takes no place | [`deletion`] | `a_forgotten_card_*`, `history_leaves_out_forgotten_relatives`, `what_is_told_again_*`, `what_another_speaker_told_meanwhile_*`, `restoring_gives_back_the_state_before` |
//! | deleting twice, or what is not there | forgetting says what it did | [`deletion`] | `forgetting_says_what_it_did`, `a_dry_run_changes_nothing` |
//! | a plan, and a card that is used before it is carried out; a rule over tenants of every size; erased words that come back | exactly what was planned and is unchanged is done, and can be taken back; what is erased leaves no byte and stays away | [`forgetting`] | all of the module |
//! | two-character words of unsegmented scripts | words find what holds them, and only that | [`words`] | `words_inside_unsegmented_text_are_found`, `characters_that_only_adjoin_are_no_word` |
//! | a question without a usable word | nothing, never everything | [`words`] | `a_question_without_a_usable_word_finds_nothing`, `query_text_is_never_a_condition_or_a_syntax_error` |
//! | an identifier among thousands of paraphrases | an exact word outranks a likeness | [`words`] | `an_exact_identifier_comes_first_among_thousands_of_paraphrases` |
//! | hostile names and texts | byte for byte | [`hostile`] | `every_text_field_comes_back_byte_for_byte`, `names_*`, `a_correction_takes_hostile_text_as_well`, `directories_with_hostile_names_hold_stores` |
//! | empty, blank and huge content | whole or refused | [`hostile`] | `content_is_whole_or_refused`, `a_raised_limit_takes_a_megabyte_whole`, `an_empty_store_answers_with_an_empty_list` |
//! | what grows by repetition, is nested deep or named twice | bounds hold, and what is stored can be read | [`hostile`] | `what_grows_by_telling_again_*`, `what_could_not_be_read_again_is_refused`, `a_track_named_twice_is_searched_once` |
//! | a large tenant beside a small one; a rare tag | k asked, k there, k returned | [`tenants`] | `ten_thousand_cards_of_one_tenant_leave_another_its_five` |
//! | a canary in another tenant | a tenant answers as though it were alone | [`tenants`] | `a_tenant_answers_as_though_it_were_alone`, `a_cursor_*`, `equal_keys_of_two_tenants_do_not_meet`, `a_wipe_or_a_run_of_one_tenant_is_no_change_of_another` |
//! | filter operators | every read agrees with brute force | [`filters`] | `every_read_agrees_*`, `pages_join_to_the_whole_in_every_order`, `unknown_fields_and_operators_are_errors` |
//! | expiry with nothing sweeping | expired is gone at that instant, everywhere | [`times`] | `a_card_is_gone_*`, `a_thousand_expired_cards_*`, `at_any_instant_*`, `an_expired_statement_*`, `of_two_expiries_*` |
//! | a policy's time to live and fading with nothing sweeping | age is judged by each read at its instant, everywhere | [`lifecycle`] | all of the module |
//! | zones, as-of reads | an instant is one everywhere; true and known are two questions | [`times`] | `an_instant_is_the_same_*`, `what_was_true_*`, `what_was_overturned_*`, `a_state_of_today_*`, `a_store_read_from_another_zone_*` |
//! | relations told twice, over, forgotten, in a circle; names in any writing | an edge is a card; a walk finds the best path, within bounds | [`relations`] | all of the module |
//! | retries, keys, typed facts, stale versions | a write happens once and replaces what it names | [`writes`] | all of the module |
//! | eight processes on one directory | one owner, clear errors for the rest | [`owners`] | `of_eight_processes_*`, `a_killed_owner_*`, `in_one_process_*` |
//! | another model of the same dimension; a model that is down | one kind of vectors; what is missing is said; nobody waits for it | [`owners`] | `writes_do_not_wait_*`, `a_store_*`, `a_newer_version_of_a_model_*`, `without_its_model_*`, `with_its_model_down_*`, `given_vectors_*` |
//! | a model in place of another; a model that gives nonsense | no two models' vectors are compared; embedding anew costs nobody a read, a write or a vector | [`reembedding`] | all of the module |

#![allow(clippy::unwrap_used)]

mod contradiction;
mod deletion;
mod exclusion;
mod filters;
mod forgetting;
mod hostile;
mod lifecycle;
mod likeness;
mod merging;
#[path = "../filter/naive.rs"]
mod naive;
mod owners;
#[path = "../filter/random.rs"]
mod random;
mod reembedding;
mod relations;
mod running;
mod settings;
mod superseding;
mod support;
mod tenants;
mod times;
mod understanding;
mod words;
mod writes;
