//! Lists of names between commas.

use xrsim_sim::external;

/// Names of lists between commas. `KEY=VALUE` after a comma is one more parameter of the name before it, and the
/// command of an external scheduler goes to the end.
pub(super) fn listed(texts: &[String]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for text in texts {
        let mut rest = Some(&**text);
        let mut is_first = true;
        while let Some(text) = rest.take() {
            let is_external = external::is_external(text);
            let (part, after) = match text.split_once(',').filter(|_| !is_external) {
                Some((part, after)) => (part, Some(after)),
                None => (text, None),
            };
            let name = part.split([':', '=']).next().unwrap_or_default();
            let is_parameter = !is_external && part[name.len()..].starts_with('=');
            match found.last_mut().filter(|_| is_parameter && !is_first) {
                Some(last) => *last += &format!(",{part}"),
                None => found.push(part.into()),
            }
            (rest, is_first) = (after, false);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_keep_parameters_and_commands_whole() {
        let of =
            |texts: &[&str]| listed(&texts.iter().map(|it| it.to_string()).collect::<Vec<_>>());
        assert_eq!(of(&["edf,rm", "sjf"]), ["edf", "rm", "sjf"]);
        assert_eq!(
            of(&["dream:alpha=1,beta=2,edf:admission=hopeless,rm"]),
            ["dream:alpha=1,beta=2", "edf:admission=hopeless", "rm"]
        );
        assert_eq!(
            of(&["edf,external:a 'b,c',timeout_ms=5"]),
            ["edf", "external:a 'b,c',timeout_ms=5"]
        );
        assert_eq!(
            of(&["edf:placement=edp,mine=external:a b,c"]),
            ["edf:placement=edp", "mine=external:a b,c"]
        );
        assert_eq!(
            of(&["PD:regions=100,detections=10,KD"]),
            ["PD:regions=100,detections=10", "KD"]
        );
        // The parser says what is wrong with these.
        assert_eq!(of(&["a=1,edf", "", "edf,"]), ["a=1", "edf", "", "edf", ""]);
    }
}
