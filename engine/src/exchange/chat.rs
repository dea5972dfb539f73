//! Conversations in the shape of chat-completion requests.
//!
//! Accepted: one JSON document that is a list of messages, an object with `messages`, or a
//! list of such objects; or JSON Lines of such objects. A message has `role` and `content`
//! (text, or parts of which those of type `text` count), and may have `name` and a time as
//! `created_at`, `timestamp`, `time` or `occurred_at` (RFC 3339, or seconds since 1970).

use serde::Deserialize;
use serde_json::Value;

use crate::Result;
use crate::card::Role;
use crate::exchange::{Conversation, not_read};
use crate::time::Timestamp;
use crate::verbs::Remember;

#[derive(Deserialize)]
struct Message {
    role: String,
    #[serde(default)]
    content: Value,
    #[serde(default)]
    name: Option<String>,
    #[serde(default, alias = "timestamp", alias = "time", alias = "occurred_at")]
    created_at: Value,
}

#[derive(Deserialize)]
struct Chat {
    #[serde(default, alias = "conversation_id", alias = "session")]
    id: Option<String>,
    messages: Vec<Message>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Document {
    Messages(Vec<Message>),
    Chats(Vec<Chat>),
    Chat(Chat),
}

/// Reads chat messages. `name` is the session of a conversation that has no identifier of
/// its own; further ones get a number.
///
/// ```
/// let text = r#"[{"role": "user", "content": "Call me Lin."}, {"role": "assistant", "content": "Hello Lin."}]"#;
/// let conversations = memcards::exchange::read_chat(text, "first")?;
/// assert_eq!(conversations[0].turns[0].session.as_deref(), Some("first"));
/// assert_eq!(conversations[0].turns.len(), 2);
/// # Ok::<(), memcards::Error>(())
/// ```
///
/// # Errors
/// [`Error::InvalidArgument`](crate::Error::InvalidArgument) on `from`, with what does not fit.
pub fn read_chat(text: &str, name: &str) -> Result<Vec<Conversation>> {
    let chats = match serde_json::from_str::<Document>(text) {
        Ok(Document::Messages(messages)) => vec![Chat { id: None, messages }],
        Ok(Document::Chats(chats)) => chats,
        Ok(Document::Chat(chat)) => vec![chat],
        Err(whole) => text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
            .map(|(number, line)| {
                // A document over several lines is no JSON Lines: then its own error counts.
                let error = |e: serde_json::Error| match number {
                    0 => not_read("chat", &whole),
                    _ => not_read("chat", format!("line {}: {e}", number + 1)),
                };
                serde_json::from_str(line).map_err(error)
            })
            .collect::<Result<_>>()?,
    };
    chats.into_iter().enumerate().map(|(number, chat)| conversation(chat, number, name)).collect()
}

fn conversation(chat: Chat, number: usize, name: &str) -> Result<Conversation> {
    let session = chat
        .id
        .unwrap_or_else(|| if number == 0 { name.to_owned() } else { format!("{name}-{}", number + 1) });
    let mut conversation = Conversation { name: session.clone(), turns: vec![], without_text: 0 };
    for (turn, message) in chat.messages.into_iter().enumerate() {
        let role = match message.role.as_str() {
            "developer" => Role::System,
            "function" => Role::Tool,
            other => Role::from_name(other)
                .ok_or_else(|| not_read("chat", format!("message {}: unknown role {other:?}", turn + 1)))?,
        };
        let content = text_of(&message.content);
        if content.trim().is_empty() {
            conversation.without_text += 1;
            continue;
        }
        conversation.turns.push(Remember {
            content,
            session: Some(session.clone()),
            turn: Some(turn as u32 + 1),
            role: Some(role),
            speaker: message.name,
            occurred_at: time_of(&message.created_at)
                .map_err(|detail| not_read("chat", format!("message {}: {detail}", turn + 1)))?,
            ..Remember::default()
        });
    }
    Ok(conversation)
}

fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter(|part| part.get("type").is_none_or(|kind| kind == "text"))
            .filter_map(|part| part.get("text").and_then(Value::as_str))
            .collect::<Vec<_>>()
            .join("\n"),
        _ => String::new(),
    }
}

fn time_of(time: &Value) -> Result<Option<Timestamp>, String> {
    match time {
        Value::Null => Ok(None),
        Value::String(text) => text.parse().map(Some).map_err(|e: crate::Error| e.to_string()),
        Value::Number(number) => number
            .as_f64()
            .map(|seconds| Some(Timestamp::from_micros((seconds * 1e6) as i64)))
            .ok_or_else(|| "the time is no number".into()),
        _ => Err("the time is neither text nor a number".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_accepted_shape() {
        let message = r#"{"role":"user","content":"hi"}"#;
        let chat = format!(r#"{{"id":"c7","messages":[{message}]}}"#);
        for (text, sessions) in [
            (format!("[{message}]"), vec!["s"]),
            (chat.clone(), vec!["c7"]),
            (format!("[{chat},{chat}]"), vec!["c7", "c7"]),
            (format!("{chat}\n\n{{\"messages\":[{message}]}}\n"), vec!["c7", "s-2"]),
        ] {
            let found = read_chat(&text, "s").expect(&text);
            assert_eq!(found.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), sessions, "{text}");
            assert!(found.iter().all(|c| c.turns[0].content == "hi" && c.turns[0].turn == Some(1)));
        }
    }

    #[test]
    fn parts_times_and_messages_without_text() {
        let text = r#"[
            {"role":"developer","content":"Be brief.","created_at":"2024-05-01T10:00:00+08:00"},
            {"role":"assistant","content":null},
            {"role":"user","name":"Lin","content":[{"type":"text","text":"a"},{"type":"image_url"},{"type":"text","text":"b"}],"timestamp":1714528800}
        ]"#;
        let found = &read_chat(text, "s").expect("reads")[0];
        assert_eq!(found.without_text, 1);
        assert_eq!(found.turns[0].occurred_at, found.turns[1].occurred_at);
        assert_eq!((found.turns[1].content.as_str(), found.turns[1].turn), ("a\nb", Some(3)));
    }

    #[test]
    fn what_does_not_fit_is_said() {
        for (text, part) in [
            ("", ""),
            ("nonsense", "expected"),
            (r#"[{"role":"wizard","content":"x"}]"#, "wizard"),
            (r#"[{"role":"user","content":"x","created_at":"noon"}]"#, "RFC 3339"),
            ("{\"messages\":[]}\n{\"massages\":[]}", "line 2"),
        ] {
            match read_chat(text, "s") {
                Ok(found) => assert!(found.is_empty(), "{text}"),
                Err(error) => assert!(error.to_string().contains(part), "{text}: {error}"),
            }
        }
    }
}
