//! Events of a server as lines on standard error.

use std::io::Write;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, SystemTime};

use chrono::{DateTime, SecondsFormat, Utc};
use isomorph::Result;
use isomorph_server::{Event, Level, Log};
use serde_json::{Map, Value};

use crate::args::serve::LogFormat;

/// Lines that wait to be written. If nobody reads standard error, further ones are dropped: the server must not wait for them.
const WAITING: usize = 1024;

/// How long the end of the process waits for lines to be written.
const LAST: Duration = Duration::from_secs(1);

/// What the writing thread is told.
enum Line {
    Text(String),
    /// Everything before this was written.
    End(SyncSender<()>),
}

/// Writes lines to standard error from a thread of its own. When it is dropped, the lines that wait are written.
pub struct Writer(Option<SyncSender<Line>>);

/// Creates a log, and what writes it.
///
/// # Errors
/// When the system has no thread left.
pub fn log(format: LogFormat) -> Result<(Log, Writer)> {
    if format == LogFormat::Off {
        return Ok((Log::none(), Writer(None)));
    }
    let (lines, waiting) = sync_channel(WAITING);
    let write = move || {
        for line in waiting {
            // There is nobody left to tell when standard error is closed, or when the process ends.
            match line {
                Line::Text(text) => drop(std::io::stderr().write_all(text.as_bytes())),
                Line::End(written) => drop(written.send(())),
            }
        }
    };
    std::thread::Builder::new().name("isomorph-log".to_owned()).spawn(write)?;
    let sender = lines.clone();
    // A line that finds no room is dropped.
    let log = Log::new(move |event| drop(sender.try_send(Line::Text(line(event, format, SystemTime::now())))));
    Ok((log, Writer(Some(lines))))
}

impl Drop for Writer {
    fn drop(&mut self) {
        let Some(lines) = self.0.take() else { return };
        let (written, wait) = sync_channel(1);
        if lines.try_send(Line::End(written)).is_ok() {
            let _ = wait.recv_timeout(LAST);
        }
    }
}

fn line(event: &Event<'_>, format: LogFormat, now: SystemTime) -> String {
    let time = DateTime::<Utc>::from(now).to_rfc3339_opts(SecondsFormat::Millis, true);
    let level = match event.level {
        Level::Info => "info",
        Level::Warning => "warning",
    };
    if format == LogFormat::Json {
        let own = [("time", time.as_str()), ("level", level), ("event", event.name), ("message", event.message)];
        let fields = event.fields.iter().map(|(name, value)| (*name, value.as_str()));
        let all = own.into_iter().chain(fields).map(|(name, value)| (name.to_owned(), Value::from(value)));
        return format!("{}\n", Value::Object(all.collect::<Map<String, Value>>()));
    }
    // What clients send must not look like another line, or move the cursor.
    let mut line = format!("{time} {level} {}: {}", event.name, event.message.escape_debug());
    for (name, value) in event.fields {
        line.push_str(&format!(" {name}={}", value.escape_debug()));
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn an_event_is_one_line_whatever_clients_send() {
        let fields = [("peer", "127.0.0.1:7".to_owned()), ("call", "a\nb\u{1b}[2J".to_owned())];
        let event =
            Event { level: Level::Warning, name: "request_refused", message: "no\nsuch \"call\"", fields: &fields };
        let now = SystemTime::UNIX_EPOCH + Duration::from_millis(1500);
        let text = line(&event, LogFormat::Text, now);
        let expected = "1970-01-01T00:00:01.500Z warning request_refused: no\\nsuch \\\"call\\\" peer=127.0.0.1:7 call=a\\nb\\u{1b}[2J\n";
        assert_eq!(text, expected);
        let json = line(&event, LogFormat::Json, now);
        assert_eq!(json.matches('\n').count(), 1);
        let value: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(value["call"], "a\nb\u{1b}[2J");
        assert_eq!((&value["level"], &value["time"]), (&"warning".into(), &"1970-01-01T00:00:01.500Z".into()));
    }
}
