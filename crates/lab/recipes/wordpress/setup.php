<?php
// Makes a WordPress site, and fills it with posts, comments and images that follow from a seed alone.
//
// Run before the site is served: php setup.php PROGRAM SITE DATABASE NAME THEME POSTS COMMENTS IMAGES SEED
// PROGRAM is the folder of WordPress as the distribution has it, SITE becomes a copy of it; wp-config.php lies above.
// DATABASE is its ADDRESS:PORT, NAME that of the database, of its account and the password; what was in it is gone.
// Nothing is fetched from anywhere: the database and memcached are all that it speaks to.

// WordPress has globals of the same names, and clears some.
define('LAB_ORDER', array_slice($argv, 1));
[$program, $site, $address, $name] = LAB_ORDER;

[$host, $port] = explode(':', $address);
$database = new mysqli($host, $name, $name, $name, (int) $port);
$database->query("DROP DATABASE `$name`");
$database->query("CREATE DATABASE `$name`");
$database->close();

copy_tree($program, $site);
// The distribution's own, which looks for sites below /etc; without it WordPress takes the one above.
@unlink("$site/wp-config.php");

$_SERVER += ['HTTP_HOST' => 'localhost', 'SERVER_PROTOCOL' => 'HTTP/1.1', 'REQUEST_METHOD' => 'GET', 'REQUEST_URI' => '/'];
define('WP_INSTALLING', true);
// Keeps posts from being announced to other sites.
define('WP_IMPORTING', true);
// WordPress has one of its own only where there is none yet; this one sends no mail.
function wp_new_blog_notification() {}

require "$site/wp-load.php";
require ABSPATH . 'wp-admin/includes/upgrade.php';
wp_install('A site of a lab', 'admin', 'admin@example.invalid', false, '', 'lab');
wp_installing(false);
// A post and two pages that every new site has, of today.
array_map(fn ($id) => wp_delete_post($id, true), [1, 2, 3]);

[, $site, , , $look, $count, $comments, $images, $seed] = LAB_ORDER;
if (!wp_get_theme($look)->exists()) {
    fwrite(STDERR, "there is no theme '$look' in $site/wp-content/themes\n");
    exit(1);
}
switch_theme($look);
update_option('permalink_structure', '/archives/%post_id%/');
update_option('posts_per_page', 10);
flush_rewrite_rules(false);

mt_srand((int) $seed);
$wpdb->query('SET autocommit = 0');
$categories = array_map(fn ($name) => wp_insert_term($name, 'category')['term_id'], ['Lakes', 'Mountains', 'Rivers', 'Roads', 'Towns']);
$pictures = make_pictures((int) $images);
for ($number = 1; $number <= (int) $count; $number++) {
    $post = make_post($number, $categories, $pictures);
    for ($comment = 1; $comment <= (int) $comments; $comment++) {
        make_comment($post, $number, $comment);
    }
}
$wpdb->query('COMMIT');

if (defined('LAB_OBJECT_CACHE')) {
    copy(__DIR__ . '/object-cache.php', "$site/wp-content/object-cache.php");
}
if (defined('LAB_MEMCACHED')) {
    // It may hold objects of the site that was there before.
    $server = new Memcached();
    $server->addServer(...explode(':', LAB_MEMCACHED));
    $server->flush();
}
if (defined('LAB_PAGE_SECONDS')) {
    copy(__DIR__ . '/advanced-cache.php', "$site/wp-content/advanced-cache.php");
}
echo 'the site has ', wp_count_posts()->publish, " posts\n";

// Links are followed: the distribution has some to what other packages bring.
function copy_tree(string $from, string $to): void {
    if (!is_dir($to)) {
        mkdir($to, 0755, true);
    }
    foreach (array_diff(scandir($from), ['.', '..']) as $name) {
        is_dir("$from/$name") ? copy_tree("$from/$name", "$to/$name") : @copy("$from/$name", "$to/$name");
    }
}

// Posts are an hour apart, from the first hour of 2020.
function moment(int $number, int $minute = 0): string {
    return gmdate('Y-m-d H:i:s', 1577836800 + 3600 * $number + 60 * $minute);
}

function words(int $count): string {
    static $syllables = ['ba', 'den', 'fo', 'gri', 'ka', 'lu', 'men', 'no', 'per', 'qua', 'ris', 'sol', 'ta', 'ver', 'wi', 'zen'];
    $words = [];
    for ($word = 0; $word < $count; $word++) {
        $text = '';
        for ($part = mt_rand(1, 3); $part > 0; $part--) {
            $text .= $syllables[mt_rand(0, 15)];
        }
        $words[] = $text;
    }
    return ucfirst(implode(' ', $words));
}

function make_pictures(int $count): array {
    $folder = WP_CONTENT_DIR . '/uploads/lab';
    wp_mkdir_p($folder);
    $pictures = [];
    for ($number = 1; $number <= $count; $number++) {
        $file = "$folder/$number.png";
        file_put_contents($file, png(320, 200));
        $when = moment(0);
        $attachment = ['post_title' => "Picture $number", 'post_mime_type' => 'image/png', 'post_status' => 'inherit', 'post_author' => 1, 'post_date' => $when, 'post_date_gmt' => $when];
        $id = wp_insert_attachment($attachment, $file);
        $metadata = ['width' => 320, 'height' => 200, 'file' => "lab/$number.png", 'filesize' => filesize($file), 'sizes' => []];
        update_post_meta($id, '_wp_attachment_metadata', $metadata);
        $pictures[] = ['id' => $id, 'url' => "/wp-content/uploads/lab/$number.png"];
    }
    return $pictures;
}

// A picture of a slope of colours with noise, so that it compresses about as a photograph does.
function png(int $width, int $height): string {
    $rows = '';
    $hue = mt_rand(0, 127);
    for ($y = 0; $y < $height; $y++) {
        $rows .= "\0";
        for ($x = 0; $x < $width; $x++) {
            $noise = mt_rand(0, 7);
            $rows .= chr(($x >> 1) + $noise & 255) . chr($y + $noise & 255) . chr($hue + $noise);
        }
    }
    $chunk = fn (string $kind, string $data) => pack('N', strlen($data)) . $kind . $data . pack('N', crc32($kind . $data));
    $head = pack('NNCCCCC', $width, $height, 8, 2, 0, 0, 0);
    return "\x89PNG\r\n\x1a\n" . $chunk('IHDR', $head) . $chunk('IDAT', gzcompress($rows, 6)) . $chunk('IEND', '');
}

function make_post(int $number, array $categories, array $pictures): int {
    $content = '';
    if ($pictures !== []) {
        $picture = $pictures[$number % count($pictures)];
        $content .= "<!-- wp:image --><figure class=\"wp-block-image\"><img src=\"{$picture['url']}\" width=\"320\" height=\"200\" alt=\"\"/></figure><!-- /wp:image -->\n";
    }
    for ($paragraph = mt_rand(3, 8); $paragraph > 0; $paragraph--) {
        $content .= '<!-- wp:paragraph --><p>' . words(mt_rand(30, 90)) . ".</p><!-- /wp:paragraph -->\n";
    }
    $when = moment($number);
    $tags = [words(1), words(1)];
    return wp_insert_post([
        'post_title' => "Post $number: " . words(4), 'post_content' => $content, 'post_excerpt' => words(20),
        'post_status' => 'publish', 'post_author' => 1, 'post_date' => $when, 'post_date_gmt' => $when,
        'post_category' => [$categories[$number % count($categories)]], 'tags_input' => $tags,
        'comment_status' => 'open', 'ping_status' => 'closed',
    ]);
}

function make_comment(int $post, int $number, int $comment): void {
    $when = moment($number, $comment);
    wp_insert_comment([
        'comment_post_ID' => $post, 'comment_author' => words(2), 'comment_author_email' => "guest$comment@example.invalid",
        'comment_content' => words(mt_rand(10, 40)) . '.', 'comment_date' => $when, 'comment_date_gmt' => $when, 'comment_approved' => 1,
    ]);
}
