//! Progress bars: on a terminal, for stages longer than a second.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use isomorph::Result;
use isomorph::convert::Progress;

use crate::allocator;
use crate::interrupt::Interrupt;
use crate::render::{Palette, Screen, about, duration, rate, thousands};

/// Stages shorter than this are not shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// Progress bars on standard error, or nothing if it is not a terminal.
pub struct Bars {
    palette: Option<Palette>,
    interrupt: Interrupt,
    stage: Mutex<Option<Stage>>,
    rows: AtomicU64,
}

/// The running stage.
struct Stage {
    word: String,
    total: Option<u64>,
    began: Instant,
    bar: Option<ProgressBar>,
}

impl Bars {
    /// Creates progress bars if standard error is a terminal. Every report checks for an interruption.
    pub fn new(interrupt: Interrupt) -> Self {
        let err = std::io::stderr();
        let palette = err.is_terminal().then(|| Palette::of(&err));
        Bars { palette, interrupt, stage: Mutex::default(), rows: AtomicU64::new(0) }
    }

    fn draw(&self, palette: Palette, rows: u64) {
        // If another thread holds the stage, that thread draws.
        let Ok(mut stage) = self.stage.try_lock() else { return };
        let Some(stage) = stage.as_mut().filter(|stage| stage.began.elapsed() > PATIENCE) else { return };
        let bar = stage.bar.get_or_insert_with(|| bar(&stage.word, stage.total, stage.began, palette));
        bar.set_position(rows);
    }
}

impl Progress for Bars {
    fn begin(&self, word: &str, total: Option<u64>) {
        self.end();
        allocator::give_back();
        self.rows.store(0, Ordering::Relaxed);
        let stage =
            Stage { word: word.to_owned(), total: total.filter(|&rows| rows > 0), began: Instant::now(), bar: None };
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = Some(stage);
    }

    fn advance(&self, rows: u64) -> Result<()> {
        self.interrupt.check()?;
        let rows = self.rows.fetch_add(rows, Ordering::Relaxed).saturating_add(rows);
        if let Some(palette) = self.palette {
            self.draw(palette, rows);
        }
        Ok(())
    }

    fn end(&self) {
        let stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (Some(stage), Some(palette)) = (stage, self.palette) else { return };
        if let Some(bar) = stage.bar {
            bar.finish_and_clear();
            let (rows, seconds) = (self.rows.load(Ordering::Relaxed), stage.began.elapsed().as_secs_f64());
            let mut screen = Screen::new(palette, None);
            screen.line(
                &stage.word,
                &format!("{:>11}   {}   in {}", thousands(rows), rate(rows, seconds), duration(seconds)),
            );
            // A progress line that cannot be written does not matter.
            let _ = std::io::stderr().write_all(screen.as_str().as_bytes());
        }
    }
}

impl Drop for Bars {
    fn drop(&mut self) {
        // A failed or interrupted stage leaves no partial bar.
        if let Some(Stage { bar: Some(bar), .. }) = self.stage.get_mut().unwrap_or_else(PoisonError::into_inner).take()
        {
            bar.finish_and_clear();
        }
    }
}

/// Runs `work`, which does not report progress; on a terminal, the elapsed time is shown after a while.
pub fn timed<T: Send>(word: &str, work: impl FnOnce() -> T + Send) -> T {
    let err = std::io::stderr();
    if !err.is_terminal() {
        return work();
    }
    let palette = Palette::of(&err);
    let began = Instant::now();
    std::thread::scope(|scope| {
        let (ended, end) = std::sync::mpsc::channel::<()>();
        let working = scope.spawn(move || {
            let _ended = ended;
            work()
        });
        let mut shown = false;
        while end.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            let mut screen = Screen::new(palette, None);
            screen.line(word, &about(began.elapsed().as_secs_f64()));
            let _ = std::io::stderr().write_all(format!("\r\x1b[2K{}", screen.as_str().trim_end()).as_bytes());
            shown = true;
        }
        if shown {
            let _ = std::io::stderr().write_all(b"\r\x1b[2K");
        }
        working.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Creates a bar with rate and remaining time; without a total, only rows and rate.
fn bar(word: &str, total: Option<u64>, began: Instant, palette: Palette) -> ProgressBar {
    let line = match (total, palette) {
        (Some(_), Palette::Ansi) => "{prefix} {bar:42.green/black.bright}  {percent:>3} %  {rows}  {rate}   {left}",
        (Some(_), Palette::Plain) => "{prefix} {bar:42}  {percent:>3} %  {rows}  {rate}   {left}",
        (None, _) => "{prefix} {rows}  {rate}",
    };
    let seconds = move || began.elapsed().as_secs_f64();
    let left = move |state: &ProgressState| {
        let (done, total) = (state.pos() as f64, state.len().unwrap_or_default() as f64);
        if done <= 0.0 || done >= total { None } else { Some((total - done) * seconds() / done) }
    };
    let style = ProgressStyle::with_template(line).unwrap_or_else(|_| ProgressStyle::default_bar());
    let style = style
        .progress_chars(if palette == Palette::Ansi { "━╸━" } else { "━╸ " })
        .with_key("rows", |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            let _ = write!(out, "{:>11}", thousands(state.pos()));
        })
        .with_key("rate", move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            let _ = write!(out, "{:>8}", rate(state.pos(), seconds()));
        })
        .with_key("left", move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            if let Some(left) = left(state).filter(|_| !state.is_finished()) {
                let _ = write!(out, "about {} left", about(left));
            }
        });
    // Hidden until it is configured, because every change draws.
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
    bar.set_style(style);
    bar.set_prefix(format!("{word:8}"));
    bar.set_draw_target(ProgressDrawTarget::stderr());
    bar
}
