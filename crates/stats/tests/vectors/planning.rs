//! Planning of experiments: sizes, looks, orders, levels of noise.

use crate::case::Case;
use rand::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;
use sysdyno_stats::sample_size::{self, ErrorRates};
use sysdyno_stats::schedule::{self, Arm};
use sysdyno_stats::sequential::{self, Spending};
use sysdyno_stats::{t_test, variance_components};

pub fn variance_components(case: &Case) {
    let starts: Vec<Vec<f64>> = (0..4).map(|start| case.input_list(&format!("/runs/{start}"))).collect();
    let found = variance_components::variance_components(&starts, 0.95).expect("usable");
    case.number("/S1sq", found.within);
    case.number("/T1sq", found.within);
    case.number("/S2sq", found.of_means);
    case.number("/T2sq", found.between);
    let costs = [case.input_f64("/cost_inner_s"), case.input_f64("/cost_outer_overhead_s")];
    case.value("/r1_opt", found.best_inner_count(costs[0], costs[1]).expect("starts differ"));
    case.number("/icc", found.intraclass_ratio().expect("varies"));
    case.number("/design_effect_r1_4", found.design_effect().expect("varies"));
    case.number("/grand_mean", found.mean.point);
    case.numbers("/ci95", &[found.mean.low, found.mean.high]);
    let naive = t_test::paired_t(&starts.concat(), 0.95).expect("varies").mean;
    case.numbers("/naive_ci95_n16", &[naive.low, naive.high]);
}

pub fn sample_size(case: &Case) {
    let rates = ErrorRates { alpha: case.input_f64("/alpha"), power: case.input_f64("/power") };
    let cells = case.peek("").as_array().expect("cells").len();
    for index in 0..cells {
        let at = |field: &str| format!("/{index}/{field}");
        let [sd, mei] = ["sd_log", "mei"].map(|field| case.peek(&at(field)).as_f64().expect("a number"));
        case.number(&at("sd_log"), sd);
        case.number(&at("mei"), mei);
        let noise = sd / mei.ln_1p();
        // The reference begins its search at four pairs; with little noise three are enough.
        let exact = sample_size::pairs_to_see_exact(noise, rates).expect("a plan").max(4);
        case.value(&at("n_diff_80_noncentral_t"), exact);
        case.number(&at("power_at_n"), sample_size::power(exact, noise, rates.alpha).expect("a plan"));
        case.value(&at("n_tost_80"), sample_size::pairs_to_prove_same(noise, rates).expect("a plan"));
        case.value(&at("n_width_le_mei"), sample_size::pairs_to_end(noise, rates.alpha).expect("a plan"));
    }
}

pub fn group_sequential(case: &Case) {
    for looks in 2..=5 {
        for (name, spending) in [("pocock", Spending::Pocock), ("obrien_fleming", Spending::OBrienFleming)] {
            let at = |field: &str| format!("/{name}_K{looks}/{field}");
            let bounds = sequential::bounds(spending, looks).expect("tabulated");
            case.numbers(&at("z"), &bounds);
            let levels: Vec<f64> = bounds.iter().map(|bound| sequential::nominal_p(*bound)).collect();
            match spending {
                Spending::Pocock => case.number(&at("nominal_p"), levels[0]),
                Spending::OBrienFleming => case.numbers(&at("nominal_p"), &levels),
            }
            case.number(&at("overall_alpha"), sequential::overall_alpha(&bounds));
        }
        let fixed = vec![sysdyno_stats::distribution::normal_quantile(0.975); looks];
        case.number(&format!("/naive_K{looks}"), sequential::overall_alpha(&fixed));
    }
}

pub fn schedule(case: &Case) {
    let seed: u64 = case.input("/seed").as_str().expect("a seed").parse().expect("a number");
    let count = case.input_u64("/superblocks") as usize;
    let mut generator = SplitMix64::seed_from_u64(seed);
    let bits: Vec<String> = (0..count).map(|_| generator.next_u64().to_string()).collect();
    case.value("/u64", bits);
    let letter = |arm: &Arm| match arm {
        Arm::A => 'A',
        Arm::B => 'B',
    };
    let blocks: Vec<String> =
        schedule::super_blocks(seed, count).iter().map(|block| block.iter().map(letter).collect()).collect();
    case.value("/superblocks", blocks);
}
