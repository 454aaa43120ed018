//! The values of a recipe's variables for one service of a lab.

use super::paths::{image_of, jars_of, mounted_at};
use super::plan::{LabPlan, LabService};
use super::recipe::{self, ParameterValue, Recipe, TemplateValues};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// This machine's values for texts: known only when the service is brought up.
#[derive(Clone, Debug, Default)]
pub(super) struct ServicePlace {
    /// The service's folder.
    pub(super) folder: PathBuf,
    /// Programs by the name that texts have for them.
    pub(super) programs: BTreeMap<String, PathBuf>,
    /// Other files by the name that texts have for them.
    pub(super) paths: BTreeMap<String, PathBuf>,
    /// The account and its group.
    pub(super) user: String,
    pub(super) group: String,
}

/// The recipe of a service, which was found when the lab was read.
pub(super) fn recipe_of(service: &LabService) -> Result<Recipe, String> {
    recipe::find(&service.recipe).ok_or_else(|| format!("this version has no recipe '{}'", service.recipe))
}

/// Whether all texts of a service's recipe can be filled in.
pub(super) fn check(plan: &LabPlan, service: &LabService) -> Result<(), String> {
    let recipe = recipe_of(service)?;
    let known = Path::new("/x").to_owned();
    let named = |names: &BTreeMap<String, Vec<String>>| {
        names.keys().map(|name| (name.clone(), known.clone())).collect::<BTreeMap<_, _>>()
    };
    let (programs, paths) = (named(&recipe.programs), named(&recipe.paths));
    let place =
        ServicePlace { folder: known.join("x"), programs, paths, user: "x".into(), group: "x".into() };
    let values = of(plan, service, &place)?;
    recipe.files.iter().try_for_each(|file| values.expand(&file.text).map(drop))?;
    recipe.start.prepare.iter().try_for_each(|arguments| values.arguments(arguments).map(drop))?;
    if let Some(volume) = &recipe.volume {
        [&volume.kind, &volume.size_mib, &volume.options, &volume.iops, &volume.mib_per_second]
            .into_iter()
            .try_for_each(|text| values.expand(text).map(drop))?;
        volume.make.values().try_for_each(|arguments| values.arguments(arguments).map(drop))?;
    }
    recipe.tunables.iter().try_for_each(|tunable| values.expand(&tunable.key).map(drop))?;
    values.arguments(&recipe.start.argv).map(drop)
}

/// The values of placeholders for a service.
pub(super) fn of(
    plan: &LabPlan,
    service: &LabService,
    place: &ServicePlace,
) -> Result<TemplateValues, String> {
    let recipe = recipe_of(service)?;
    let mut values = TemplateValues::default();
    values.set("folder", place.folder.display().to_string());
    values.set("data", place.folder.join("data").display().to_string());
    values.set("volume", mounted_at(&place.folder).display().to_string());
    values.set("image", image_of(&place.folder).display().to_string());
    values.set("address", plan.address(&service.host).to_string());
    values.set("lab", &plan.name);
    values.set("host", &service.host);
    values.set("name", &service.name);
    values.set("user", &place.user);
    values.set("group", &place.group);
    if let Some(jars) = &recipe.jars {
        values.set("jars", jars_of(&place.folder, jars).display().to_string());
    }
    if let Some(own) = &recipe.itself {
        set_service(&mut values, own, plan, service, &service.host);
    }
    for (name, path) in &place.programs {
        values.set(&format!("program.{name}"), path.display().to_string());
    }
    for (name, path) in &place.paths {
        values.set(&format!("path.{name}"), path.display().to_string());
    }
    for (name, parameter) in &recipe.parameters {
        let value = match service.with.get(name) {
            Some(given) => Some(parameter.read(given)),
            None => parameter.read_default(),
        };
        match value.transpose().map_err(|cause| format!("'{name}': {cause}"))? {
            Some(ParameterValue::Endpoint(text)) => {
                let found = endpoint(plan, &service.host, &text);
                let found = found.ok_or_else(|| format!("'{name}': there is no service '{text}'"))?;
                values.set_value(name, ParameterValue::Endpoint(found.to_string()));
                if let Some(known) = plan.service(&text) {
                    plan.check_way(&service.host, &known.host)
                        .map_err(|cause| format!("'{name}': {cause}"))?;
                    set_service(&mut values, name, plan, known, &service.host);
                }
            }
            Some(ParameterValue::Folder(text)) => {
                let found = folder(plan, place, &text);
                let found = found.ok_or_else(|| format!("'{name}': there is no service '{text}'"))?;
                if let Some(known) = plan.service(&text) {
                    plan.check_files(&service.host, &known.host)
                        .map_err(|cause| format!("'{name}': {cause}"))?;
                }
                values.set(name, found);
            }
            Some(value) => values.set_value(name, value),
            None => {}
        }
    }
    Ok(values)
}

/// What `name` stands for when it is a service, as `from` finds it: where it listens, `NAME.host`, the address of that, and
/// `NAME.PARAMETER`, what was chosen there.
fn set_service(values: &mut TemplateValues, name: &str, plan: &LabPlan, service: &LabService, from: &str) {
    let address = plan.address_from(from, &service.host);
    values.set(&format!("{name}.host"), address.to_string());
    if let Some(port) = port(service) {
        values.set(name, SocketAddr::new(address, port).to_string());
    }
    let Some(recipe) = recipe::find(&service.recipe) else { return };
    for (parameter, known) in &recipe.parameters {
        let value = service.with.get(parameter).or(known.default.as_ref());
        if let Some(number) = value.and_then(toml::Value::as_integer) {
            values.set(&format!("{name}.{parameter}"), number.to_string());
        }
    }
}

/// An address with a port, typed or that of a service as `from` finds it; `None` if it is neither.
pub(super) fn endpoint(plan: &LabPlan, from: &str, text: &str) -> Option<SocketAddr> {
    match text.parse::<SocketAddr>() {
        Ok(address) => Some(address),
        Err(_) => {
            let service = plan.service(text)?;
            Some(SocketAddr::new(plan.address_from(from, &service.host), port(service)?))
        }
    }
}

/// A folder by its whole path, or that of a service: its volume, if its recipe has one, else its data; `None` if it is neither.
fn folder(plan: &LabPlan, place: &ServicePlace, text: &str) -> Option<String> {
    if text.starts_with('/') {
        return Some(text.to_owned());
    }
    let service = plan.service(text)?;
    // What is not known yet stands for nothing.
    let own = place.folder.parent().unwrap_or(Path::new("")).join(&service.name);
    let has_volume = recipe::find(&service.recipe).is_some_and(|recipe| recipe.volume.is_some());
    Some(if has_volume { mounted_at(&own) } else { own.join("data") }.display().to_string())
}

/// The port of a service, by its parameter of that name; `None` if it has none.
pub(super) fn port(service: &LabService) -> Option<u16> {
    let recipe = recipe::find(&service.recipe)?;
    let parameter = recipe.parameters.get("port")?;
    let value = service.with.get("port").or(parameter.default.as_ref())?;
    u16::try_from(value.as_integer()?).ok()
}

/// Where a service listens, as other hosts find it.
pub(super) fn endpoint_of(plan: &LabPlan, service: &LabService) -> Option<String> {
    let address = plan.address(&service.host);
    port(service).map(|port| SocketAddr::new(address, port).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_service_is_its_volume_if_it_has_one_and_else_its_data() {
        let root = |of: &str| {
            let text = format!(
                "name = 'l'\n[[host]]\nname = 'h'\n\
                 [[service]]\nname = 'disk'\nhost = 'h'\nrecipe = 'file-system'\n\
                 [[service]]\nname = 'files'\nhost = 'h'\nrecipe = 'lighttpd'\n\
                 [[service]]\nname = 'web'\nhost = 'h'\nrecipe = 'nginx'\nwith = {{ root = '{of}' }}\n"
            );
            let plan = LabPlan::parse(&text, Path::new("lab.toml")).expect("is a lab");
            let place = ServicePlace { folder: "/state/l/web".into(), ..ServicePlace::default() };
            let values = super::of(&plan, plan.service("web").expect("is there"), &place).expect("are known");
            values.expand("{{root}}").expect("is a text")
        };
        assert_eq!(
            ["disk", "files", "/srv"].map(root),
            ["/state/l/disk/volume", "/state/l/files/data", "/srv"]
        );
    }
}
