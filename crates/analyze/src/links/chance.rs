//! What a good hash does to a few peers: each goes to a random link.

use sysdyno_record::links::LinkChance;

/// Peers that are computed for; more are divided evenly enough.
const PEERS_MAX: usize = 128;

/// What happens to so many random peers on so many links; `None`: there is nothing to divide.
pub(super) fn chance(peers: usize, links: usize) -> Option<LinkChance> {
    if peers < 2 || links < 2 || peers > PEERS_MAX {
        return None;
    }
    let (n, k) = (peers as f64, links as f64);
    // The mean of a maximum is the sum over m of the probability that it is above m.
    let busiest: f64 = (0..peers).map(|most| 1.0 - all_have_at_most(most, peers, links)).sum();
    Some(LinkChance {
        peers_count: peers,
        links_count: links,
        one_link_ratio: k.powf(1.0 - n),
        busiest_mean_ratio: busiest / n,
    })
}

/// The probability that none of the links has more than `most` of the peers: link by link, each takes a binomial share of those
/// that are left.
fn all_have_at_most(most: usize, peers: usize, links: usize) -> f64 {
    // left[n]: probability that n peers are left for the links that follow.
    let mut left = vec![0.0; peers + 1];
    left[peers] = 1.0;
    for rest in (1..=links).rev() {
        let mut next = vec![0.0; peers + 1];
        for (count, probability) in left.iter().enumerate().filter(|(_, probability)| **probability > 0.0) {
            for taken in 0..=most.min(count) {
                next[count - taken] += probability * binomial(count, taken, 1.0 / rest as f64);
            }
        }
        left = next;
    }
    left[0]
}

fn binomial(count: usize, taken: usize, share: f64) -> f64 {
    if share >= 1.0 {
        return if taken == count { 1.0 } else { 0.0 };
    }
    let ways = (0..taken).map(|at| ((count - at) as f64 / (taken - at) as f64).ln()).sum::<f64>();
    (ways + taken as f64 * share.ln() + (count - taken) as f64 * (1.0 - share).ln()).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(peers: usize, links: usize) -> [f64; 2] {
        let chance = chance(peers, links).expect("there is something to divide");
        [chance.one_link_ratio, chance.busiest_mean_ratio]
    }

    #[test]
    fn chances_agree_with_all_outcomes_counted() {
        for (peers, links) in [(2usize, 2usize), (3, 2), (4, 3), (6, 2), (5, 4)] {
            let outcomes = links.pow(peers as u32);
            let (mut one, mut busiest) = (0, 0);
            for outcome in 0..outcomes {
                let mut counts = vec![0; links];
                (0..peers).for_each(|peer| counts[outcome / links.pow(peer as u32) % links] += 1);
                let most = counts.into_iter().max().unwrap_or(0);
                one += usize::from(most == peers);
                busiest += most;
            }
            let expected = [one, busiest].map(|sum| sum as f64 / outcomes as f64);
            let found = of(peers, links);
            assert!((found[0] - expected[0]).abs() < 1e-9, "{peers} on {links}: {found:?} {expected:?}");
            assert!((found[1] - expected[1] / peers as f64).abs() < 1e-9, "{peers} on {links}: {found:?}");
        }
        assert_eq!(chance(1, 2), None);
        assert_eq!(chance(2, 1), None);
        assert!(of(128, 2)[1] < 0.55);
    }
}
