//! The time that the event loop itself takes. It is reported and decides nothing.

/// CPU and wall-clock time of the event loop; none on a platform that has no clock to ask (WebAssembly).
#[derive(Debug)]
pub(crate) struct Spent {
    pub(crate) cpu_s: Option<f64>,
    pub(crate) wall_s: Option<f64>,
}

/// Measures from [`start`](Self::start) to [`stop`](Self::stop).
#[derive(Debug)]
pub(crate) struct Stopwatch(imp::Start);

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self(imp::Start::now())
    }

    pub(crate) fn stop(&self) -> Spent {
        self.0.spent()
    }
}

#[cfg(unix)]
mod imp {
    use super::Spent;
    use rustix::time::{clock_gettime, ClockId};

    #[derive(Debug)]
    pub(super) struct Start {
        cpu_s: f64,
        wall: std::time::Instant,
    }

    impl Start {
        pub(super) fn now() -> Self {
            Self { cpu_s: thread_cpu_s(), wall: std::time::Instant::now() }
        }

        pub(super) fn spent(&self) -> Spent {
            Spent {
                cpu_s: Some(thread_cpu_s() - self.cpu_s),
                wall_s: Some(self.wall.elapsed().as_secs_f64()),
            }
        }
    }

    fn thread_cpu_s() -> f64 {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
    }
}

#[cfg(not(unix))]
mod imp {
    use super::Spent;

    #[derive(Debug)]
    pub(super) struct Start;

    impl Start {
        pub(super) fn now() -> Self {
            Self
        }

        pub(super) fn spent(&self) -> Spent {
            Spent { cpu_s: None, wall_s: None }
        }
    }
}
