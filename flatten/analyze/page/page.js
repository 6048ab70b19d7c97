"use strict";
// Draws what flatten analyze found. Names come from the image and are hostile: they only ever become
// text nodes, never markup, attributes or styles.
(() => {
    const causes = ["overwritten", "metadata", "deleted", "opaque", "type"];
    const words = { live: "live", overwritten: "overwritten", metadata: "metadata only", deleted: "deleted",
        opaque: "opaque directory", type: "type changed" };
    const data = JSON.parse(document.getElementById("data").textContent);
    const main = document.getElementById("main");

    // ---- helpers ----

    function element(tag, options = {}, ...children) {
        const made = document.createElement(tag);
        for (const [key, value] of Object.entries(options)) {
            if (key === "class") made.className = value;
            else if (key === "on") made.addEventListener("click", value);
            else made.setAttribute(key, value);
        }
        for (const child of children) made.append(child);
        return made;
    }

    function size(bytes) {
        const units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
        let unit = 0;
        for (; bytes >= 999.95 && unit + 1 < units.length; unit++) bytes /= 1000;
        return (unit ? bytes.toFixed(1) : bytes) + " " + units[unit];
    }

    const share = (part, whole) => (whole ? 100 * part / whole : 0);
    const percent = (part, whole) => share(part, whole).toFixed(1) + " %";
    const sum = object => Object.values(object).reduce((a, b) => a + b, 0);
    const ratio = found => found.ratio.toFixed(2) + (found.error ? " ± " + (100 * found.error).toFixed(1) + " %" : "");
    const shown = number => number.toLocaleString("en");

    function section(title, about, ...children) {
        const made = element("section", {}, element("h2", {}, title));
        if (about) made.append(element("p", { class: "soft" }, about));
        made.append(...children);
        return made;
    }

    // ---- tables that sort ----

    // columns: [title, value of a row, its text, "number" or "text"]
    function table(columns, rows) {
        const body = element("tbody");
        const heads = columns.map(([title, , , kind]) => element("th", { class: kind, scope: "col", "aria-sort": "none" },
            element("button", { type: "button" }, title)));
        const fill = list => body.replaceChildren(...list.map(row => element("tr", {},
            ...columns.map(([, value, text, kind]) => element("td", { class: kind }, String((text || value)(row)))))));
        heads.forEach((head, index) => head.firstChild.addEventListener("click", () => {
            const value = columns[index][1], number = columns[index][3] === "number";
            const before = head.getAttribute("aria-sort");
            const down = before === "none" ? number : before === "ascending";
            for (const other of heads) other.setAttribute("aria-sort", "none");
            head.setAttribute("aria-sort", down ? "descending" : "ascending");
            const sorted = rows.map((row, at) => [value(row), at, row]);
            sorted.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0) * (down ? -1 : 1) || a[1] - b[1]);
            fill(sorted.map(item => item[2]));
        }));
        fill(rows);
        return element("div", { class: "scroll", tabindex: "0" },
            element("table", {}, element("thead", {}, element("tr", {}, ...heads)), body));
    }

    // ---- layers ----

    function legend() {
        return element("ul", { class: "legend" }, ...["live", ...causes].map(key =>
            element("li", {}, element("i", { class: key }), words[key])));
    }

    function layerBars(image) {
        const most = Math.max(1, ...image.layers.map(layer => layer.payload));
        return image.layers.map(layer => {
            const bar = element("span", { class: "bar" });
            const told = ["live", ...causes].map(key => [key, key === "live" ? layer.live : layer.dead[key]]);
            for (const [key, bytes] of told) {
                if (!bytes) continue;
                const part = element("i", { class: key });
                part.style.width = share(bytes, most) + "%";
                bar.append(part);
            }
            const step = layer.created_by || "";
            const title = told.filter(part => part[1]).map(([key, bytes]) => words[key] + " " + size(bytes)).join(", ");
            const row = element("div", { class: "layer" }, element("span", {}, String(layer.number)), bar,
                element("span", { class: "step" }, size(layer.payload) + "  " + step));
            row.title = title + (step ? "\n" + step : "");
            return row;
        });
    }

    // ---- treemap: squarified (Bruls, Huizing, van Wijk) ----

    const weight = node => node.live + node.dead;

    function worstRatio(row, side, total) {
        const largest = row[0].area, least = row[row.length - 1].area;
        return Math.max(side * side * largest / (total * total), total * total / (side * side * least));
    }

    // Places each item {area} into the rectangle: sets x, y, w, h.
    function squarify(items, x, y, w, h) {
        let row = [], total = 0, at = 0;
        const place = () => {
            const wide = w >= h, side = wide ? h : w, depth = side ? total / side : 0;
            let along = 0;
            for (const item of row) {
                const length = depth ? item.area / depth : 0;
                Object.assign(item, wide ? { x, y: y + along, w: depth, h: length } : { x: x + along, y, w: length, h: depth });
                along += length;
            }
            if (wide) { x += depth; w -= depth; } else { y += depth; h -= depth; }
            row = []; total = 0;
        };
        while (at < items.length) {
            const item = items[at], side = Math.min(w, h);
            if (row.length && worstRatio([...row, item], side, total + item.area) > worstRatio(row, side, total)) {
                place();
                continue;
            }
            row.push(item);
            total += item.area;
            at++;
        }
        if (row.length) place();
    }

    // views: [{title, root, slash}], of which one is shown; slash stands behind the names of what can be entered.
    function treemap(views) {
        const map = element("div", { class: "map" }), crumbs = element("div", { class: "crumbs" });
        let view = views[0], trail = [view.root];

        const choices = element("div", { class: "views", role: "group" }, ...views.map(other => element("button",
            { type: "button", "aria-pressed": String(other === view), on: event => choose(other, event.currentTarget) }, other.title)));

        function choose(other, button) {
            view = other;
            for (const each of choices.children) each.setAttribute("aria-pressed", String(each === button));
            zoom([view.root]);
        }

        function zoom(path) {
            trail = path;
            draw();
        }

        function colour(node) {
            const part = Math.round(share(node.dead, weight(node)));
            return "color-mix(in srgb, rgb(var(--hot)) " + part + "%, rgb(var(--cool)))";
        }

        // A directory's cell has its name on top and, where there is room, what is in it.
        function cell(node, path, box) {
            const inner = node.children && node.children.length > 0;
            const made = element(inner ? "button" : "div", inner ? { class: "cell", type: "button" } : { class: "cell" });
            const text = node.name + (inner ? view.slash : ""), bytes = size(weight(node));
            if (box.w > 34 && box.h > 14) made.append(element("span", {}, text + " " + bytes));
            else made.style.padding = "0"; // it would make the cell larger
            made.title = path.slice(1).map(up => up.name + (view.slash || ": ")).join("") + text + "\n" + bytes + ", " +
                percent(node.dead, weight(node)) + " dead" + (node.more ? "\n" + node.more : "");
            if (inner) made.addEventListener("click", () => zoom([...path, node]));
            made.style.background = colour(node);
            for (const [key, value] of [["left", box.x], ["top", box.y], ["width", box.w], ["height", box.h]])
                made.style[key] = value + "px";
            return made;
        }

        function fill(cells, path, x, y, w, h, levels) {
            const nodes = (path[path.length - 1].children || []).filter(weight).sort((a, b) => weight(b) - weight(a));
            const scale = w * h / (nodes.reduce((all, node) => all + weight(node), 0) || 1);
            const items = nodes.map(node => ({ node, area: weight(node) * scale }));
            squarify(items, x, y, w, h);
            for (const item of items) {
                if (item.w < 2 || item.h < 2) continue;
                cells.push(cell(item.node, path, item));
                if (levels > 1 && item.node.children && item.w > 50 && item.h > 40)
                    fill(cells, [...path, item.node], item.x + 3, item.y + 19, item.w - 6, item.h - 22, levels - 1);
            }
        }

        function draw() {
            const top = trail[trail.length - 1], cells = [];
            fill(cells, trail, 0, 0, map.clientWidth, map.clientHeight, 3);
            map.replaceChildren(...cells);
            crumbs.replaceChildren(...trail.flatMap((node, index) => [
                element("button", { type: "button", on: () => zoom(trail.slice(0, index + 1)) }, index ? node.name : view.slash || "all"),
                index && index + 1 < trail.length ? " / " : " "]),
                size(weight(top)) + ", " + percent(top.dead, weight(top)) + " dead");
        }

        new ResizeObserver(draw).observe(map);
        return views.length > 1 ? [choices, crumbs, map] : [crumbs, map];
    }

    // ---- owners ----

    const kinds = { directory: "files without a package", state: "databases, caches and logs" };
    const ownerName = owner => owner.kind === "directory" ? "/" + owner.name
        : owner.kind === "state" ? kinds.state : owner.name + (owner.version ? " " + owner.version : "");

    // 1, 4-6
    function layerRuns(layers) {
        const runs = [];
        for (const layer of layers) {
            const last = runs[runs.length - 1];
            if (last && last[1] === layer - 1) last[1] = layer;
            else runs.push([layer, layer]);
        }
        return runs.map(([first, last]) => first === last ? String(first) : first + "-" + last).join(", ");
    }

    // The owners by kind, as a tree for the map. They come with the heaviest first.
    function ownerTree(owners) {
        const most = 500, groups = new Map(), root = { name: "", live: 0, dead: 0, children: [] };
        for (const owner of owners) {
            if (!groups.has(owner.kind)) {
                groups.set(owner.kind, { name: kinds[owner.kind] || owner.kind, live: 0, dead: 0, others: 0, children: [] });
                root.children.push(groups.get(owner.kind));
            }
            const group = groups.get(owner.kind), list = group.children;
            if (list.length < most) list.push({ name: ownerName(owner), live: owner.live, dead: owner.dead,
                more: many(owner.files, "file") + ", layers " + layerRuns(owner.layers) });
            else if (group.others++) Object.assign(list[most], { name: "(" + group.others + " smaller)",
                live: list[most].live + owner.live, dead: list[most].dead + owner.dead });
            else list.push({ name: "(1 smaller)", live: owner.live, dead: owner.dead });
            for (const sums of [group, root]) { sums.live += owner.live; sums.dead += owner.dead; }
        }
        for (const group of root.children) if (group.children.length === 1 && group.name === group.children[0].name) delete group.children;
        return root;
    }

    function maps(image) {
        const views = [{ title: "By directory", root: image.tree, slash: "/" }];
        if (image.owners.some(owner => owner.kind !== "directory")) views.push({ title: "By package", root: ownerTree(image.owners), slash: "" });
        return treemap(views);
    }

    function ownerTable(owners) {
        return table([
            ["Live", row => row.live, row => size(row.live), "number"],
            ["Dead", row => row.dead, row => size(row.dead), "number"],
            ["Files", row => row.files, row => shown(row.files), "number"],
            ["Kind", row => row.kind, null, "word"],
            ["Owner", row => ownerName(row), null, "text"],
            ["Layers", row => row.layers.length, row => layerRuns(row.layers), "word"],
        ], owners.slice(0, 500));
    }

    // ---- what each layer hides ----

    const many = (number, noun) => shown(number) + " " + noun + (number === 1 ? "" : "s");
    const heaviest = nodes => [...nodes].sort((a, b) => ("others" in a) - ("others" in b) || b.bytes - a.bytes || b.files - a.files);

    function hiddenNode(node) {
        const about = element("span", { class: "soft" }, [size(node.bytes), many(node.files, "file"), words[node.cause],
            node.of && "of layer " + node.of].filter(Boolean).join(", "));
        if ("others" in node) return element("li", {}, element("span", { class: "soft" }, many(node.others, "smaller path") + " "), about);
        const name = element("span", { class: "name" }, (node.name || "/") + (node.name && node.children ? "/" : ""));
        if (!node.children) return element("li", {}, name, " ", about);
        return element("li", {}, element("details", {}, element("summary", {}, name, " ", about),
            element("ul", {}, ...heaviest(node.children).map(hiddenNode))));
    }

    function hiddenTrees(image) {
        return image.hidden.map(layer => {
            const whole = image.layers[layer.by - 1].created_by || "", step = whole.length > 100 ? whole.slice(0, 100) + "…" : whole;
            const nodes = layer.tree.name === "" && layer.tree.children ? heaviest(layer.tree.children) : [layer.tree];
            return element("details", { class: "hidden" }, element("summary", {}, "Layer " + layer.by + " hides " +
                size(layer.bytes) + " in " + many(layer.files, "file"), element("span", { class: "soft" }, step ? "  " + step : "")),
                element("ul", {}, ...nodes.map(hiddenNode)));
        });
    }

    // ---- lookups ----

    function lookupChart(lookups, layers) {
        const counts = new Map(lookups.by_layers.map(row => [row.layers, row]));
        const last = Math.max(1, ...counts.keys()), most = Math.max(1, ...lookups.by_layers.map(row => row.directories));
        const chart = element("div", { class: "chart", role: "img" }), axis = element("div", { class: "axis" });
        const every = Math.ceil(last / 12);
        for (let n = 1; n <= last; n++) {
            const row = counts.get(n), column = element("div");
            if (row) {
                const bar = element("i");
                bar.style.height = 100 * Math.log1p(row.directories) / Math.log1p(most) + "%";
                column.title = shown(row.directories) + " director" + (row.directories === 1 ? "y" : "ies") + " in " +
                    many(n, "layer") + ", with " + many(row.entries, "name");
                column.append(bar);
            }
            chart.append(column);
            axis.append(element("span", {}, (n - 1) % every === 0 ? String(n) : ""));
        }
        chart.setAttribute("aria-label", "Directories by the number of layers that hold them, of " + layers);
        return [chart, axis];
    }

    function lookupTable(lookups) {
        const rows = [["stat", lookups.existing, lookups.flat.existing, "stat of a path"],
            ["missing", lookups.missing, lookups.flat.missing, "a name that does not exist"],
            ["readdir", lookups.depth, lookups.flat.depth, "listing a directory"]];
        return table([
            ["Cold …", row => row[3], null, "text"],
            ["Layers, mean", row => row[1].mean, row => row[1].mean.toFixed(2), "number"],
            ["99 %", row => row[1].p99, null, "number"],
            ["most", row => row[1].most, null, "number"],
            ["flattened", row => row[2].mean, row => row[2].mean.toFixed(2), "number"],
            ["time, fresh mount", row => lookups.model[row[0]].mount.ratio,
                row => lookups.model[row[0]].mount.ratio.toFixed(2) + "×", "number"],
            ["time, no dentries", row => lookups.model[row[0]].dentries.ratio,
                row => lookups.model[row[0]].dentries.ratio.toFixed(2) + "×", "number"],
            ["time, no cache", row => lookups.model[row[0]].disk.ratio,
                row => lookups.model[row[0]].disk.ratio.toFixed(2) + "×", "number"],
        ], rows);
    }

    // Where the constants of the times come from.
    function costs(model) {
        const states = { mount: "fresh mount", dentries: "no dentries", disk: "no cache" };
        const rest = Object.keys(states).filter(key => !model.measured.includes(key)).map(key => states[key]);
        return element("p", { class: "soft" }, "Times against one layer, by " + (model.file === null
            ? "default constants; flatbed bench --save measures them on a host."
            : "constants measured " + model.date + ", kernel " + model.kernel + ", " + model.filesystem +
                (rest.length ? "; by default: " + rest.join(", ") : "") + "."));
    }

    function python(lookups) {
        const found = lookups.python;
        if (!found.modules) return "";
        return element("p", {}, "Importing each Python module once (" + shown(found.modules) + "), over sys.path (" +
            found.sites.length + (found.sites.length === 1 ? " entry" : " entries") + "), looks into " +
            many(found.existing.probes, "layer") + " for names that exist and into " + shown(found.missing.probes) +
            " for names that do not; flattened, into " + shown(found.existing.flat) + " and " + shown(found.missing.flat) + ".");
    }

    // ---- ZFS ----

    function datasets(zfs) {
        return section("Datasets on ZFS", "Ready to paste, with your pool for tank.", element("ul", { class: "advice" },
            ...zfs.datasets.map((row, index) => element("li", {}, element("code", {}, row.command), element("br"),
                element("span", { class: "soft" }, (index ? "/" + row.path : "What is not named below") + ": " + row.reason + "."))),
            ...(zfs.dedup ? [element("li", {}, element("span", { class: "soft" }, zfs.dedup_reason + "."))] : [])));
    }

    function dedup(zfs) {
        const rows = [["this image alone", zfs.dedup]];
        if (data.dedup) rows.push(["all images together", data.dedup]);
        const about = error => error ? " ± " + (100 * error).toFixed(1) + " %" : "";
        return section("Block deduplication", "Records of " + zfs.record / 1024 + " KiB that are alike are stored once; each " +
            "that is stored takes about " + zfs.dedup.entry_memory + " bytes of memory.", table([
            ["What", row => row[0], null, "word"],
            ["Records", row => row[1].records, row => shown(row[1].records), "number"],
            ["Bytes", row => row[1].bytes, row => size(row[1].bytes), "number"],
            ["Stored", row => row[1].unique_bytes, row => size(row[1].unique_bytes), "number"],
            ["Ratio", row => row[1].ratio, row => row[1].ratio.toFixed(2) + about(row[1].error), "number"],
            ["Entries", row => row[1].entries, row => shown(row[1].entries) + about(row[1].entries_error), "number"],
            ["Memory", row => row[1].memory, row => size(row[1].memory), "number"],
        ], rows));
    }

    // ---- the page ----

    function tiles(image) {
        const tile = (value, text) => element("div", { class: "tile" }, element("b", {}, value), element("span", {}, text));
        return element("section", { class: "tiles" },
            tile(size(image.payload.in), "in " + many(image.layers.length, "layer")),
            tile(size(image.payload.dead), percent(image.payload.dead, image.payload.in) + " dead"),
            tile((100 * image.dive.efficiency).toFixed(1) + " %", "efficiency, as dive has it"),
            tile(image.lookups.existing.mean.toFixed(2), "layers looked into for a path"),
            tile(image.lookups.missing.mean.toFixed(2), "for a name that is not there"));
    }

    function ruleText(rule) {
        const show = value => rule.rule === "max_wasted" ? size(value)
            : rule.rule === "max_wasted_share" || rule.rule === "min_efficiency" ? (100 * value).toFixed(2) + " %"
                : String(Math.round(100 * value) / 100);
        return rule.rule + ": " + show(rule.value) + ", limit " + show(rule.limit);
    }

    function draw(image) {
        main.replaceChildren(element("p", {}, element("span", { class: "source" }, image.source), " ",
            element("span", { class: "soft" }, (image.name || "") + " " + image.id)), tiles(image));
        if (image.rules.length)
            main.append(section("Rules", "", element("ul", { class: "advice" }, ...image.rules.map(rule =>
                element("li", rule.kept ? {} : { class: "broken" }, (rule.kept ? "kept: " : "broken: ") + ruleText(rule))))));
        main.append(section("Advice", "", element("ul", { class: "advice" }, ...image.advice.map(advice =>
            element("li", {}, advice.text)))));
        main.append(section("Layers", "What each brought: what a container sees of it, and what not, by cause.",
            legend(), ...layerBars(image)));
        const map = section("Where the bytes are", "Area: bytes in all layers. Click to go in.", element("p", { class: "soft" }, "all live",
            element("span", { class: "ramp" }), "all dead"), ...maps(image));
        map.id = "treemap";
        main.append(map);
        if (image.hidden.length) main.append(section("What each layer hides", "Files of older layers that a newer layer " +
            "overwrites or deletes: they are stored and pulled, and no container sees them. Click to go in.", ...hiddenTrees(image)));
        main.append(section("Layers by directory", "How many directories (logarithmic) lie in how many layers. A lookup goes through " +
            "all layers that hold the directory; flattened, through one.", ...lookupChart(image.lookups, image.layers.length),
            lookupTable(image.lookups), costs(image.lookups.model), python(image.lookups)));
        drawTables(image);
    }

    function drawTables(image) {
        const steps = image.layers.map(layer => layer.created_by || "");
        if (image.kills.length) main.append(section("Which layer hides what", "", table([
            ["Bytes", row => row.bytes, row => size(row.bytes), "number"],
            ["Files", row => row.files, row => shown(row.files), "number"],
            ["Cause", row => words[row.cause], null, "word"],
            ["Of layer", row => row.layer, null, "number"],
            ["By layer", row => row.by, null, "number"],
            ["Step", row => steps[row.by - 1], null, "text"],
        ], image.kills.slice(0, 500))));
        if (image.worst.length) main.append(section("The worst paths", "", table([
            ["Dead bytes", row => row.bytes, row => size(row.bytes), "number"],
            ["Copies", row => row.copies, null, "number"],
            ["Cause", row => words[row.cause], null, "word"],
            ["Path", row => "/" + row.path, null, "text"],
        ], image.worst)));
        if (image.owners.length) main.append(section("Owners", "Packages, by the databases in the image, and directories of files " +
            "without one. Files are those that a container sees.", ownerTable(image.owners)));
        if (image.duplicates && image.duplicates.worst.length) main.append(section("Duplicates", "Same content at several paths, where a container sees it.", table([
            ["Size", row => row.size, row => size(row.size), "number"],
            ["Copies", row => row.copies, null, "number"],
            ["Layers", row => row.layers, null, "number"],
            ["Paths", row => row.paths.map(path => "/" + path).join("  "), null, "text"],
        ], image.duplicates.worst)));
        if (image.zfs) main.append(section("Compression", "Predicted compressratio in records of " + image.zfs.record / 1024 +
            " KiB, with its error: " + shown(image.zfs.sampled) + " of " + shown(image.zfs.records) + " records compressed.", table([
            ["Directory", row => "path" in row ? "/" + row.path : "all of it", null, "word"],
            ["Bytes", row => row.bytes, row => size(row.bytes), "number"],
            ["lz4", row => row.lz4.ratio, row => ratio(row.lz4), "number"],
            ["zstd", row => row.zstd.ratio, row => ratio(row.zstd), "number"],
        ], [image.zfs, ...image.zfs.directories])));
        if (image.zfs && image.zfs.dedup) main.append(dedup(image.zfs));
        if (image.zfs) main.append(datasets(image.zfs));
        if (image.lookups.worst.length) main.append(section("Directories in many layers", "", table([
            ["Layers", row => row.layers, null, "number"],
            ["Names", row => row.entries, row => shown(row.entries), "number"],
            ["Directory", row => "/" + row.path, null, "text"],
        ], image.lookups.worst)));
        main.append(section("All layers", "", table([
            ["Layer", row => row.number, null, "number"],
            ["Brought", row => row.payload, row => size(row.payload), "number"],
            ["Dead", row => row.payload - row.live, row => size(row.payload - row.live), "number"],
            ["Hides", row => sum(row.killed), row => size(sum(row.killed)), "number"],
            ["Step", row => row.created_by || "", null, "text"],
        ], image.layers)));
    }

    const choice = document.getElementById("images");
    data.images.forEach((image, index) => choice.append(element("option", { value: String(index) }, image.source)));
    choice.addEventListener("change", () => draw(data.images[Number(choice.value)]));
    document.getElementById("choice").hidden = data.images.length < 2;
    document.title = "Image costs: " + data.images.map(image => image.source).join(", ");
    draw(data.images[0]);
})();
