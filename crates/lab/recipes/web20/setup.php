<?php
// Makes the tables of the site, and fills them and its folder with people, events, and pictures that follow from a seed alone.
//
// Run before the site is served: php setup.php SITE PERSONS EVENTS TAGS SEED
// config.php beside this file says where the database is; what was in it is gone. Names, sizes, and numbers of files are those
// that the pages of Olio embed (webapp/php and workload/php/resources of shanti/olio); their contents are fillers.

declare(strict_types=1);

require __DIR__ . '/config.php';
require __DIR__ . '/site.php';

[, $site, $persons, $events, $tags, $seed] = $argv;
[$persons, $events, $tags] = [(int) $persons, (int) $events, (int) $tags];

// Prototype, effects, dragdrop, controls; scaffold, site; and the pictures of the frame.
const SITE_SIZES = [71747, 38630, 31004, 29423, 2065, 10250, 1151, 1005, 947, 295, 157, 156, 157, 157, 365, 1468];
// What single pages embed besides: a background, and what highlights links, checks forms, or shows stars.
const MORE_SIZES = ['home' => [1466, 501], 'tag' => [1466, 501], 'event' => [1466, 501, 3806, 407, 449], 'person' => [1466],
    'join' => [1466, 9159], 'add' => [1466, 9159]];
// Small pictures of events and persons, by the place where they are shown. An event or person without a picture has one of these.
const PICTURE_COUNTS = ['thumb' => 10, 'found' => 10, 'event' => 1, 'person' => 1];
const PICTURE_QUALITY = 85;

const TABLES = [
    'address' => 'id INT AUTO_INCREMENT PRIMARY KEY, street VARCHAR(55) NOT NULL, city VARCHAR(55) NOT NULL, zip VARCHAR(12) NOT NULL,
        country VARCHAR(55) NOT NULL',
    'person' => 'id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(25) UNIQUE, password VARCHAR(72) NOT NULL, first VARCHAR(25) NOT NULL,
        last VARCHAR(25) NOT NULL, email VARCHAR(90) NOT NULL, telephone VARCHAR(25) NOT NULL, timezone VARCHAR(25) NOT NULL,
        summary VARCHAR(2500) NOT NULL, picture VARCHAR(40), address_id INT NOT NULL REFERENCES address (id)',
    'friendship' => 'person_id INT NOT NULL, friend_id INT NOT NULL, is_accepted TINYINT NOT NULL, PRIMARY KEY (person_id, friend_id),
        KEY (friend_id)',
    'event' => 'id INT AUTO_INCREMENT PRIMARY KEY, title VARCHAR(100) NOT NULL, summary VARCHAR(100) NOT NULL,
        description VARCHAR(500) NOT NULL, person_id INT NOT NULL REFERENCES person (id), address_id INT NOT NULL REFERENCES address (id),
        telephone VARCHAR(20) NOT NULL, timezone VARCHAR(25) NOT NULL, starts DATETIME NOT NULL, created DATETIME NOT NULL,
        picture VARCHAR(40), leaflet VARCHAR(40), KEY (starts), KEY (person_id, starts)',
    'tag' => 'id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(30) NOT NULL UNIQUE, uses INT NOT NULL',
    'event_tag' => 'tag_id INT NOT NULL REFERENCES tag (id), event_id INT NOT NULL REFERENCES event (id), PRIMARY KEY (tag_id, event_id),
        KEY (event_id)',
    'attendance' => 'event_id INT NOT NULL, person_id INT NOT NULL, PRIMARY KEY (event_id, person_id), KEY (person_id)',
    'comment' => 'id INT AUTO_INCREMENT PRIMARY KEY, event_id INT NOT NULL, person_id INT NOT NULL, words VARCHAR(500) NOT NULL,
        stars TINYINT NOT NULL, created DATETIME NOT NULL, KEY (event_id)',
];

mt_srand((int) $seed);
database()->query('DROP DATABASE ' . DATABASE_NAME);
database()->query('CREATE DATABASE ' . DATABASE_NAME . ' CHARACTER SET utf8mb4');
database()->select_db(DATABASE_NAME);
foreach (TABLES as $name => $columns) {
    database()->query("CREATE TABLE $name ($columns) ENGINE = InnoDB");
}
together(function () use ($persons, $events, $tags) {
    fill_people($persons, $events);
    fill_events($events, $persons, $tags);
});
// It may hold pages of the site that was there before.
cache()?->flush();
make_files("$site/web20");
$counts = array_map(fn ($table) => first_row("SELECT COUNT(*) AS count FROM $table", [])['count'] . " rows in $table", array_keys(TABLES));
echo 'the site has ', implode(', ', $counts), "\n";

// Many rows at once, by a statement that is prepared once for a full batch.
function insert_rows(string $table, string $columns, iterable $rows): void {
    $batch = [];
    foreach ($rows as $row) {
        $batch[] = $row;
        if (count($batch) === 500) {
            insert_batch($table, $columns, $batch);
            $batch = [];
        }
    }
    if ($batch !== []) {
        insert_batch($table, $columns, $batch);
    }
}

function insert_batch(string $table, string $columns, array $batch): void {
    static $statements = [];
    $row = '(' . implode(', ', array_fill(0, count($batch[0]), '?')) . ')';
    $sql = "INSERT IGNORE INTO $table ($columns) VALUES " . implode(', ', array_fill(0, count($batch), $row));
    $statements[$sql] ??= database()->prepare($sql);
    $statements[$sql]->execute(array_merge(...$batch));
}

// Addresses 1 to PERSONS are those of persons, and the ones after them those of events.
function fill_people(int $persons, int $events): void {
    insert_rows('address', 'street, city, zip, country', numbered($persons + $events, fn ($number) =>
        [words(2) . " $number", words(1), sprintf('%05d', mt_rand(0, 99999)), words(1)]));
    // One hash for all, since each takes a millisecond.
    $password = password_hash('secret', PASSWORD_BCRYPT, ['cost' => PASSWORD_COST]);
    insert_rows('person', 'name, password, first, last, email, telephone, timezone, summary, address_id', numbered($persons, fn ($number) =>
        ["user$number", $password, words(1), words(1), "user$number@example.invalid", '555-' . mt_rand(100000, 999999), 'UTC', words(30), $number]));
    $friends = numbered(4 * $persons, fn ($number) => [intdiv($number - 1, 4) + 1, mt_rand(1, $persons), min(mt_rand(0, 3), 1)]);
    insert_rows('friendship', 'person_id, friend_id, is_accepted', $friends);
}

// The events are an hour apart, half of them before the day of the site. So ten that follow each other have ten pictures.
function fill_events(int $events, int $persons, int $tags): void {
    $hours = fn (int $number) => (new DateTimeImmutable(TODAY))->modify(sprintf('%+d hours', $number))->format('Y-m-d H:i:s');
    insert_rows('event', 'title, summary, description, person_id, address_id, telephone, timezone, starts, created', numbered($events, fn ($number) =>
        [words(4), words(8), words(50), mt_rand(1, $persons), $persons + $number, '555-' . mt_rand(100000, 999999), 'UTC',
            $hours($number - intdiv($events, 2)), $hours($number - 2 * $events)]));
    insert_rows('tag', 'name, uses', numbered($tags, fn ($number) => ["tag$number", 0]));
    insert_rows('event_tag', 'tag_id, event_id', numbered(3 * $events, fn ($number) => [popular($tags), intdiv($number - 1, 3) + 1]));
    database()->query('UPDATE tag JOIN (SELECT tag_id, COUNT(*) AS count FROM event_tag GROUP BY tag_id) AS used ON used.tag_id = tag.id
        SET tag.uses = used.count');
    insert_rows('attendance', 'event_id, person_id', numbered(8 * $events, fn ($number) => [intdiv($number - 1, 8) + 1, mt_rand(1, $persons)]));
    insert_rows('comment', 'event_id, person_id, words, stars, created', numbered(3 * $events, fn ($number) =>
        [intdiv($number - 1, 3) + 1, mt_rand(1, $persons), words(15), mt_rand(1, 5), $hours(-mt_rand(1, 1000))]));
}

function numbered(int $count, callable $row): Generator {
    for ($number = 1; $number <= $count; $number++) {
        yield $row($number);
    }
}

// Few tags are used often, and most of them seldom.
function popular(int $count): int {
    return 1 + (int) (($count - 1) * (mt_rand() / mt_getrandmax()) ** 2);
}

function words(int $count): string {
    static $syllables = ['ba', 'den', 'fo', 'gri', 'ka', 'lu', 'men', 'no', 'per', 'qua', 'ris', 'sol', 'ta', 'ver', 'wi', 'zen'];
    $words = [];
    for ($word = 0; $word < $count; $word++) {
        $words[] = $syllables[mt_rand(0, 15)] . $syllables[mt_rand(0, 15)];
    }
    return ucfirst(implode(' ', $words));
}

// Static files, which never change, and pictures, to which the site adds.
function make_files(string $folder): void {
    mkdir("$folder/static", 0755, true);
    foreach (['site' => SITE_SIZES] + MORE_SIZES as $name => $sizes) {
        foreach ($sizes as $place => $size) {
            file_put_contents("$folder/static/$name-" . ($place + 1), substr('/*' . str_repeat(words(200) . "\n", intdiv($size, 800) + 1), 0, $size - 2) . '*/');
        }
    }
    mkdir("$folder/image", 0755, true);
    foreach (PICTURE_COUNTS as $name => $count) {
        for ($number = 1; $number <= $count; $number++) {
            imagejpeg(drawing(), "$folder/image/$name-$number", PICTURE_QUALITY);
        }
    }
    // The pages run as the owner of the site, and this as root.
    chown("$folder/image", fileowner($GLOBALS['site']));
    chgrp("$folder/image", filegroup($GLOBALS['site']));
}

// A slope of colours with noise, so that it compresses about as a photograph does.
function drawing(): GdImage {
    $image = imagecreatetruecolor(100, 75);
    $hue = mt_rand(0, 127);
    for ($y = 0; $y < 75; $y++) {
        for ($x = 0; $x < 100; $x++) {
            $noise = mt_rand(0, 40);
            imagesetpixel($image, $x, $y, imagecolorallocate($image, 2 * $x + $noise & 255, 2 * $y + $noise & 255, $hue + $noise));
        }
    }
    return $image;
}
