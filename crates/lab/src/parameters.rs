//! What the services of a lab are set to, as their recipes call it.

use super::plan::LabPlan;
use super::recipe;

/// A parameter of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceParameter {
    /// The service.
    pub service: String,
    /// Its recipe.
    pub recipe: String,
    /// The parameter.
    pub name: String,
    /// Its value, typed or by default; `None`: it has none.
    pub value: Option<String>,
}

impl LabPlan {
    /// The parameters of all services that are on.
    pub fn parameters(&self) -> Vec<ServiceParameter> {
        let mut all = Vec::new();
        for service in self.services.iter().filter(|service| !service.is_off) {
            let Some(recipe) = recipe::find(&service.recipe) else { continue };
            for (name, known) in &recipe.parameters {
                let value = service.with.get(name).or(known.default.as_ref());
                let text =
                    |value: &toml::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                all.push(ServiceParameter {
                    service: service.name.clone(),
                    recipe: service.recipe.clone(),
                    name: name.clone(),
                    value: value.map(text),
                });
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn parameters_are_what_was_typed_or_what_the_recipe_has() {
        let text = "name = 'l'\n[[host]]\nname = 'h'\n[[service]]\nname = 'cache'\nhost = 'h'\nrecipe = 'memcached'\nwith = { threads = 2 }\n";
        let lab = LabPlan::parse(text, Path::new("lab.toml")).expect("is in order");
        let value =
            |name: &str| lab.parameters().into_iter().find(|one| one.name == name).and_then(|one| one.value);
        assert_eq!((value("threads").as_deref(), value("port").as_deref()), (Some("2"), Some("11211")));
    }
}
