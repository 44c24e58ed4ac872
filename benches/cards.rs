//! Kernels on cards of AMD that are not there: Mesa's driver RADV compiles those of five scenes and tells registers, spills and waves:
//! `cargo bench --bench cards`, on Linux with Mesa 22 to 25 (`mesa-vulkan-drivers` of Debian 12).
//!
//! With `-- --check FILE` it compares with such a report instead of printing one: no kernel may spill more registers on a card, take more
//! scratch memory or have fewer waves than there. These are words of a compiler, and no times.
#![allow(clippy::unwrap_used, reason = "a bench may fail loudly")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a report")]

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeMap;
    use std::ffi::{CStr, CString};
    use std::path::Path;
    use std::process::Command;

    use ash::vk;
    use esker::gpu::shader::SOURCES;
    use esker::gpu::{SceneKernel, kernels_of};
    use esker::scenario::Scenario;

    /// Cards by the names that RADV has for them: of the generations GCN 4 and 5, RDNA 1 to 3.
    const CARDS: [&str; 6] = ["polaris10", "vega10", "raven", "navi10", "navi21", "gfx1100"];
    /// Scenes with what is changed in them: spheres that resist rolling, a drum, clumps, a machine with a mesh, polyhedra that stick in a pipe.
    const SCENES: [(&str, &[&str]); 5] = [
        ("settle_1000.toml", &[]),
        ("small_drum.toml", &[]),
        ("clumps.toml", &[]),
        ("excavator.toml", &[]),
        ("packed_solids.toml", &[PIPE, "materials.plastic.pull_off_force=1e-3"]),
    ];
    const PIPE: &str = "boundaries.0.shape={ kind = 'cylinder', base = [0, 0, 0], axis = [0, 0, 1], length = 0.1, radius = 0.04 }";
    /// Variables of the environment: the Vulkan driver, and the card that RADV takes to be there, of old and new versions.
    const DRIVER: &str = "VK_ICD_FILENAMES";
    const FAMILIES: [&str; 2] = ["RADV_FORCE_FAMILY", "AMD_FORCE_FAMILY"];
    /// What is told of a kernel, in the words of the driver, in the order of [`Figures`].
    const STATISTICS: [&str; 5] =
        ["VGPRs", "Subgroups per SIMD", "Instructions", "Spilled VGPRs", "Scratch size"];

    /// Vector registers, waves per SIMD, instructions, spilled vector registers, scratch memory of a wave \[bytes\].
    type Figures = [u64; 5];

    /// Shader and entry point of a kernel.
    type Name = (&'static str, &'static str);

    pub fn main() {
        let arguments: Vec<String> =
            std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
        match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            [] => print!("{}", report()),
            ["--card"] => print!("{}", lines(&on_this_card())),
            ["--check", file] => {
                let known = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{file}: {error}"));
                let worse = worse(&known, &report());
                assert!(worse.is_empty(), "worse than in {file}:\n{}", worse.join("\n"));
                println!("No kernel is worse than in {file}.");
            }
            _ => panic!("expected nothing, or --check FILE"),
        }
    }

    /// The report: a line per kernel and card, of all scenes the one with the most registers.
    fn report() -> String {
        let driver = driver();
        let of_card = |card: &str| {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.arg("--card").env(DRIVER, &driver).envs(FAMILIES.map(|variable| (variable, card)));
            let output = command.output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{card}: {said}");
            let lines = String::from_utf8(output.stdout).unwrap();
            lines.lines().map(|line| format!("{card},{line}\n")).collect::<String>()
        };
        let head = "card,kernel,vector registers,waves per SIMD,instructions,spilled registers,scratch of a wave [bytes]\n";
        CARDS.into_iter().fold(head.to_owned(), |report, card| report + &of_card(card))
    }

    /// File that tells the Vulkan loader of RADV.
    fn driver() -> String {
        let folders = ["/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d"];
        let files = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
        let mut paths = files.map(|file| file.path().display().to_string());
        paths.find(|path| path.contains("radeon_icd")).expect(
            "no radeon_icd*.json in /usr/share/vulkan/icd.d: install Mesa's Vulkan drivers (Debian: mesa-vulkan-drivers)",
        )
    }

    fn lines(kernels: &BTreeMap<Name, Figures>) -> String {
        let line = |(&(shader, entry), figures): (&Name, &Figures)| {
            format!("{shader}::{entry},{}\n", figures.map(|figure| figure.to_string()).join(","))
        };
        kernels.iter().map(line).collect()
    }

    /// What has become worse since a report: more spilled registers, more scratch memory, fewer waves.
    fn worse(known: &str, now: &str) -> Vec<String> {
        let read = |text: &str| -> BTreeMap<String, Figures> {
            let line = |line: &str| {
                let mut words = line.split(',').collect::<Vec<_>>();
                let figures =
                    words.split_off(2).into_iter().map(|word| word.parse().unwrap()).collect::<Vec<_>>();
                (words.join(" "), figures.try_into().unwrap())
            };
            text.lines().skip(1).map(line).collect()
        };
        let (known, now) = (read(known), read(now));
        let compare = |(kernel, before): (&String, &Figures)| {
            let Some(after) = now.get(kernel) else { return Some(format!("{kernel} is in no scene")) };
            let ([_, waves, _, spilled, scratch], [_, had, _, spilt, scratched]) = (after, before);
            let is_worse = waves < had || spilled > spilt || scratch > scratched;
            is_worse.then(|| format!("{kernel}: {after:?}, before {before:?} ({})", STATISTICS.join(", ")))
        };
        known.iter().filter_map(compare).collect()
    }

    /// Compiles the kernels of all scenes for the card that the environment names.
    fn on_this_card() -> BTreeMap<Name, Figures> {
        let card = Card::open();
        let mut seen = Vec::new();
        let mut found: BTreeMap<Name, Figures> = BTreeMap::new();
        for (scene, overrides) in SCENES {
            let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios").join(scene);
            let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
            let scenario = Scenario::load(&file, &overrides).unwrap_or_else(|problems| panic!("{problems}"));
            for kernel in kernels_of(&scenario.world, &scenario.settings).unwrap() {
                if seen.contains(&kernel) {
                    continue;
                }
                let figures = card.figures(&kernel);
                let worst = found.entry((kernel.shader, kernel.entry)).or_insert(figures);
                if figures[0] > worst[0] {
                    *worst = figures;
                }
                seen.push(kernel);
            }
        }
        found
    }

    /// A buffer that a kernel binds: group, binding, and whether it is a uniform one.
    type Bound = (u32, u32, bool);

    /// SPIR-V of a kernel without checks, as it is on a card, and what it binds.
    fn spirv(kernel: &SceneKernel) -> (Vec<u32>, Vec<Bound>) {
        use naga::back::spv;
        use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
        let source = SOURCES.iter().find(|source| source.name == kernel.shader).unwrap();
        let mut module = naga::front::wgsl::parse_str(&source.text()).unwrap();
        module.entry_points.retain(|entry| entry.name == kernel.entry);
        let mut validator = naga::valid::Validator::new(
            naga::valid::ValidationFlags::all(),
            naga::valid::Capabilities::all(),
        );
        let info = validator.validate(&module).unwrap();
        let constants: naga::back::PipelineConstants =
            kernel.overrides.iter().map(|&(name, value)| (name.to_owned(), f64::from(value))).collect();
        let stage = Some((naga::ShaderStage::Compute, kernel.entry));
        let (module, info) =
            naga::back::pipeline_constants::process_overrides(&module, &info, stage, &constants).unwrap();
        let unchecked = BoundsCheckPolicy::Unchecked;
        let options = spv::Options {
            force_loop_bounding: false,
            zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
            bounds_check_policies: BoundsCheckPolicies {
                index: unchecked,
                buffer: unchecked,
                image_load: unchecked,
                binding_array: unchecked,
            },
            ..spv::Options::default()
        };
        let pipeline = spv::PipelineOptions {
            shader_stage: naga::ShaderStage::Compute,
            entry_point: kernel.entry.to_owned(),
        };
        let words = spv::write_vec(&module, &info, &options, Some(&pipeline)).unwrap();
        let uses = info.get_entry_point(0);
        let bound = |(handle, variable): (naga::Handle<naga::GlobalVariable>, &naga::GlobalVariable)| {
            let binding = variable.binding.as_ref().filter(|_| !uses[handle].is_empty())?;
            Some((binding.group, binding.binding, variable.space == naga::AddressSpace::Uniform))
        };
        (words, module.global_variables.iter().filter_map(bound).collect())
    }

    /// A device on which kernels can be compiled, and nothing else.
    struct Card {
        // In the order in which they are to be dropped; the process ends with them.
        properties: ash::khr::pipeline_executable_properties::Device,
        device: ash::Device,
        _instance: ash::Instance,
        _entry: ash::Entry,
    }

    impl Card {
        fn open() -> Card {
            // SAFETY: all handles are those of this instance and device, which live as long as the process.
            unsafe {
                let entry = ash::Entry::load().unwrap();
                let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_2);
                let instance = vk::InstanceCreateInfo::default().application_info(&application);
                let instance = entry.create_instance(&instance, None).unwrap();
                let all = instance.enumerate_physical_devices().unwrap();
                let physical =
                    *all.first().expect("RADV lists no card: Mesa 26 has no null hardware any more");
                let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
                let names = [ash::khr::pipeline_executable_properties::NAME.as_ptr()];
                let mut told = vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default()
                    .pipeline_executable_info(true);
                let device = vk::DeviceCreateInfo::default()
                    .queue_create_infos(&queues)
                    .enabled_extension_names(&names)
                    .push_next(&mut told);
                let device = instance.create_device(physical, &device, None).unwrap();
                let properties = ash::khr::pipeline_executable_properties::Device::new(&instance, &device);
                Card { properties, device, _instance: instance, _entry: entry }
            }
        }

        /// Layout of the bind group with this number.
        fn group(&self, bound: &[Bound], number: u32) -> vk::DescriptorSetLayout {
            let binding = |&(_, binding, is_uniform): &Bound| {
                let kind = match is_uniform {
                    true => vk::DescriptorType::UNIFORM_BUFFER,
                    false => vk::DescriptorType::STORAGE_BUFFER,
                };
                vk::DescriptorSetLayoutBinding::default()
                    .binding(binding)
                    .descriptor_type(kind)
                    .descriptor_count(1)
                    .stage_flags(vk::ShaderStageFlags::COMPUTE)
            };
            let bindings: Vec<_> =
                bound.iter().filter(|&&(group, ..)| group == number).map(binding).collect();
            let layout = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            // SAFETY: as in `open`.
            unsafe { self.device.create_descriptor_set_layout(&layout, None).unwrap() }
        }

        /// Compiles a kernel, and returns what the compiler tells of it.
        fn figures(&self, kernel: &SceneKernel) -> Figures {
            let (words, bound) = spirv(kernel);
            let groups = [0, 1].map(|number| self.group(&bound, number));
            let entry = CString::new(kernel.entry).unwrap();
            // SAFETY: as in `open`.
            let statistics = unsafe {
                let module = vk::ShaderModuleCreateInfo::default().code(&words);
                let module = self.device.create_shader_module(&module, None).unwrap();
                let layout = vk::PipelineLayoutCreateInfo::default().set_layouts(&groups);
                let layout = self.device.create_pipeline_layout(&layout, None).unwrap();
                let stage = vk::PipelineShaderStageCreateInfo::default()
                    .stage(vk::ShaderStageFlags::COMPUTE)
                    .module(module)
                    .name(&entry);
                let pipeline = vk::ComputePipelineCreateInfo::default()
                    .stage(stage)
                    .layout(layout)
                    .flags(vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR);
                let cache = vk::PipelineCache::null();
                let pipelines = self.device.create_compute_pipelines(cache, &[pipeline], None).unwrap();
                let executable = vk::PipelineExecutableInfoKHR::default().pipeline(pipelines[0]);
                self.properties.get_pipeline_executable_statistics(&executable).unwrap()
            };
            STATISTICS.map(|name| {
                let of_name = |statistic: &&vk::PipelineExecutableStatisticKHR<'_>| {
                    // SAFETY: the driver ends its words with a zero.
                    unsafe { CStr::from_ptr(statistic.name.as_ptr()) }.to_str() == Ok(name)
                };
                let found = statistics.iter().find(of_name).unwrap_or_else(|| panic!("no {name} are told"));
                // SAFETY: all that are asked for are whole numbers.
                unsafe { found.value.u64 }
            })
        }
    }
}

fn main() {
    #[cfg(target_os = "linux")]
    linux::main();
    #[cfg(not(target_os = "linux"))]
    panic!("RADV, which compiles for cards that are not there, is a driver of Linux");
}
