//! The window of the last loss, towards which BIC and both versions of CUBIC climb.

use parshall_units::parameters::Variable;

/// Its inner variable.
pub(crate) const W_MAX: Variable =
    Variable::new("w_max", "packets", "window before the last reduction, lower by fast convergence");

/// That of CUBIC's curve, K.
pub(crate) const K: Variable =
    Variable::new("k", "s", "time that the cubic takes from the reduction to w_max");

/// W_max after a congestion event that keeps the factor `kept` of the window `used`. With fast convergence, a flow that
/// has not come back to the maximum `before` aims at the middle of what it had and what it keeps, and so releases
/// bandwidth sooner (Xu, Harfoush & Rhee 2004; RFC 9438 §4.7).
pub(crate) fn after_loss(used: f64, kept: f64, before: f64, fast_convergence: bool) -> f64 {
    if fast_convergence && used < before {
        used * (1.0 + kept) / 2.0
    } else {
        used
    }
}
