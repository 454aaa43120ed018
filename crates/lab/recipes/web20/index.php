<?php
// A calendar of social events: the front door. Every path but those of static files leads here.
//
// The seven operations are those of Olio (Apache incubator); the code is sysdyno's own. SITE/index.php is this file, and the
// rest of the program is in the folder above, out of reach of the web server.

declare(strict_types=1);

require dirname(__DIR__) . '/config.php';
require dirname(__DIR__) . '/site.php';
require dirname(__DIR__) . '/pages.php';

const PAGES = [
    'GET /' => 'home_page',
    'GET /web20/home' => 'home_page',
    'POST /web20/login' => 'login',
    'GET /web20/logout' => 'logout',
    'GET /web20/tag' => 'tag_search',
    'GET /web20/event' => 'event_detail',
    'GET /web20/person' => 'person_detail',
    'GET /web20/person/new' => 'person_form',
    'POST /web20/person/new' => 'add_person',
    'GET /web20/event/new' => 'event_form',
    'POST /web20/event/new' => 'add_event',
];

try {
    $path = parse_url($_SERVER['REQUEST_URI'] ?? '/', PHP_URL_PATH) ?: '/';
    $page = PAGES[($_SERVER['REQUEST_METHOD'] ?? 'GET') . ' ' . $path] ?? throw new Refused(404, 'There is no such page.');
    if (str_ends_with($path, '/new')) {
        require dirname(__DIR__) . '/forms.php';
    }
    header('Content-Type: text/html; charset=UTF-8');
    header('X-Content-Type-Options: nosniff');
    echo $page();
} catch (Refused $refused) {
    http_response_code($refused->getCode());
    echo layout('Sorry', '<p class="error">' . escaped($refused->getMessage()) . '</p>');
} catch (Throwable $problem) {
    error_log((string) $problem);
    http_response_code(500);
    echo 'The site has a problem.';
}
