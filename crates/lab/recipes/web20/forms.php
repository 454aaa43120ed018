<?php
// The pages that add something: AddPerson and AddEvent, each a form with a picture.

declare(strict_types=1);

// Pictures beyond this are refused before anything is unpacked.
const PIXELS_MAX = 25_000_000;

const ADDRESS_FIELDS = ['street' => 55, 'city' => 55, 'zip' => 12, 'country' => 55];

function person_form(): string {
    return layout('Join', form('/web20/person/new', ['user_name', 'password', 'first', 'last', 'email', 'telephone', 'timezone',
        'summary', ...array_keys(ADDRESS_FIELDS)], ['picture']), 'join', 2);
}

function event_form(): string {
    must_be_logged_in();
    return layout('Add an event', form('/web20/event/new', ['title', 'summary', 'description', 'telephone', 'timezone', 'starts',
        'tags', ...array_keys(ADDRESS_FIELDS)], ['picture', 'leaflet']), 'add', 2);
}

function form(string $action, array $fields, array $files): string {
    $inputs = array_map(fn ($name) => "<p><label>$name <input name=\"$name\"></label></p>\n", $fields);
    $uploads = array_map(fn ($name) => "<p><label>$name <input name=\"$name\" type=\"file\"></label></p>\n", $files);
    return "<form method=\"post\" action=\"$action\" enctype=\"multipart/form-data\">\n" . implode('', $inputs) . implode('', $uploads)
        . '<button>Add</button></form>';
}

// A new member. Who chooses no name is called after their number.
function add_person(): string {
    $name = given($_POST, 'user_name', 25, false);
    if ($name !== '' && (!preg_match('/^[a-z][a-z0-9_-]*$/', $name) || preg_match('/^user\d+$/', $name))) {
        throw new Refused(400, 'A name has small letters and digits, and is not "user" with a number.');
    }
    $person = [];
    foreach (['first' => 25, 'last' => 25, 'email' => 90, 'telephone' => 25, 'timezone' => 25, 'summary' => 2500] as $field => $most) {
        $person[] = given($_POST, $field, $most);
    }
    $address = address_fields();
    $password = password_hash(given($_POST, 'password', 72), PASSWORD_BCRYPT, ['cost' => PASSWORD_COST]);
    $picture = picture('picture');
    $id = together(function () use ($name, $person, $address, $password, $picture) {
        $columns = 'name, password, picture, address_id, first, last, email, telephone, timezone, summary';
        $values = [$name === '' ? null : $name, $password, $picture, insert_address($address), ...$person];
        if ($name !== '' && first_row('SELECT id FROM person WHERE name = ? FOR UPDATE', [$name]) !== null) {
            throw new Refused(409, 'This name is taken.');
        }
        $id = insert('person', $columns, $values);
        if ($name === '') {
            rows('UPDATE person SET name = ? WHERE id = ?', ["user$id", $id]);
        }
        return $id;
    });
    $name = $name === '' ? "user$id" : $name;
    return layout("Welcome, $name", person_content($name), 'join', 2);
}

// A new event of the one who is logged in, with its tags.
function add_event(): string {
    $viewer = must_be_logged_in();
    $event = [];
    foreach (['title' => 100, 'summary' => 100, 'description' => 500, 'telephone' => 20, 'timezone' => 25] as $field => $most) {
        $event[] = given($_POST, $field, $most);
    }
    $starts = DateTimeImmutable::createFromFormat('Y-m-d H:i', given($_POST, 'starts', 16));
    $tags = array_unique(preg_split('/\s+/', strtolower(given($_POST, 'tags', 200))));
    if ($starts === false || count($tags) > 10 || preg_grep('/^[a-z0-9-]{1,30}$/', $tags, PREG_GREP_INVERT) !== []) {
        throw new Refused(400, 'The time is as in 2026-12-31 23:59, and there are up to 10 tags of letters and digits.');
    }
    // The same order in all requests: two of them never wait for each other's rows.
    sort($tags);
    $address = address_fields();
    [$picture, $leaflet] = [picture('picture'), leaflet('leaflet')];
    $id = together(function () use ($viewer, $event, $starts, $tags, $address, $picture, $leaflet) {
        $columns = 'person_id, address_id, starts, created, picture, leaflet, title, summary, description, telephone, timezone';
        $values = [$viewer['id'], insert_address($address), $starts->format('Y-m-d H:i:s'), gmdate('Y-m-d H:i:s'), $picture, $leaflet, ...$event];
        $id = insert('event', $columns, $values);
        foreach ($tags as $tag) {
            rows('INSERT INTO tag (name, uses) VALUES (?, 1) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), uses = uses + 1', [$tag]);
            rows('INSERT INTO event_tag (tag_id, event_id) VALUES (LAST_INSERT_ID(), ?)', [$id]);
        }
        return $id;
    });
    return layout('Your event', event_content($id), 'add', 2);
}

function must_be_logged_in(): array {
    return viewer() ?? throw new Refused(403, 'Log in first.');
}

function insert(string $table, string $columns, array $values): int {
    $marks = implode(', ', array_fill(0, count($values), '?'));
    rows("INSERT INTO $table ($columns) VALUES ($marks)", $values);
    return (int) database()->insert_id;
}

function address_fields(): array {
    return array_map(fn ($field) => given($_POST, $field, ADDRESS_FIELDS[$field]), array_keys(ADDRESS_FIELDS));
}

function insert_address(array $address): int {
    return insert('address', implode(', ', array_keys(ADDRESS_FIELDS)), $address);
}

// A file that was sent with a form, or null if there was none.
function sent(string $field): ?string {
    $file = $_FILES[$field] ?? ['error' => UPLOAD_ERR_NO_FILE];
    if ($file['error'] === UPLOAD_ERR_NO_FILE) {
        return null;
    }
    if (!is_int($file['error']) || $file['error'] !== UPLOAD_ERR_OK || !is_uploaded_file($file['tmp_name'])) {
        throw new Refused(413, "'$field' did not arrive, or is too large.");
    }
    return $file['tmp_name'];
}

// Keeps a picture as it came, and a small one beside it, whose name is returned. Names are drawn, never taken from the sender.
function picture(string $field): ?string {
    $file = sent($field);
    if ($file === null) {
        return null;
    }
    [$width, $height, $type] = @getimagesize($file) ?: [0, 0, 0];
    $kind = [IMAGETYPE_JPEG => 'jpeg', IMAGETYPE_PNG => 'png', IMAGETYPE_GIF => 'gif'][$type] ?? null;
    if ($kind === null || $width * $height < 1 || $width * $height > PIXELS_MAX) {
        throw new Refused(415, 'A picture is a JPEG, PNG, or GIF of up to 25 million pixels.');
    }
    $whole = @("imagecreatefrom$kind")($file) ?: throw new Refused(415, 'This picture is damaged.');
    $scale = min(120 / $width, 120 / $height, 1);
    $small = imagescale($whole, max((int) ($scale * $width), 1), max((int) ($scale * $height), 1));
    $name = bin2hex(random_bytes(8));
    move_uploaded_file($file, PICTURES . "/$name.$kind");
    imagejpeg($small, PICTURES . "/$name-small.jpeg", 75);
    return "$name-small.jpeg";
}

function leaflet(string $field): ?string {
    $file = sent($field);
    if ($file === null) {
        return null;
    }
    if (file_get_contents($file, false, null, 0, 5) !== '%PDF-') {
        throw new Refused(415, 'A leaflet is a PDF.');
    }
    $name = bin2hex(random_bytes(8)) . '.pdf';
    move_uploaded_file($file, PICTURES . "/$name");
    return $name;
}
