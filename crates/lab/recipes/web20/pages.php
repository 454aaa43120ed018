<?php
// The pages that show something: HomePage, Login, TagSearch, EventDetail, and PersonDetail.

declare(strict_types=1);

const EVENT_COLUMNS = 'event.id, event.title, event.summary, event.starts, event.created, event.picture, person.name AS person';

// How long a page may be behind the database. An event that changes is forgotten at once.
const KEPT_SECONDS = 60;

// The next events, and the tags that are used most.
function home_page(string $message = ''): string {
    $page = page_number();
    $content = kept("home:$page", KEPT_SECONDS, function () use ($page) {
        $tags = rows('SELECT name, uses FROM (SELECT name, uses FROM tag ORDER BY uses DESC LIMIT 50) AS most ORDER BY name');
        $count = first_row('SELECT COUNT(*) AS count FROM event WHERE starts >= ?', [TODAY])['count'];
        $events = rows('SELECT ' . EVENT_COLUMNS . ' FROM event JOIN person ON person.id = event.person_id
            WHERE event.starts >= ? ORDER BY event.starts, event.id LIMIT 10 OFFSET ?', [TODAY, 10 * ($page - 1)]);
        return cloud($tags) . event_list($events, 'thumb') . pager('/web20/home?', $page, $count);
    });
    $viewer = viewer();
    return layout('Upcoming events', $message . ($viewer === null ? '' : own_events($viewer)) . $content, 'home', 2);
}

// What concerns only the one who is logged in, so it is not kept.
function own_events(array $viewer): string {
    $events = rows('SELECT event.id, event.title FROM attendance JOIN event ON event.id = attendance.event_id
        WHERE attendance.person_id = ? AND event.starts >= ? ORDER BY event.starts LIMIT 3', [$viewer['id'], TODAY]);
    $asked = first_row('SELECT COUNT(*) AS count FROM friendship WHERE friend_id = ? AND is_accepted = 0', [$viewer['id']])['count'];
    $links = array_map(fn ($event) => event_link($event['id'], $event['title']), $events);
    return "<p>You have $asked requests for friendship. Your next events: " . (implode(', ', $links) ?: 'none') . ".</p>\n";
}

function login(): string {
    $name = given($_POST, 'user_name', 25);
    $person = first_row('SELECT id, name, password FROM person WHERE name = ?', [$name]);
    if ($person === null || !password_verify(given($_POST, 'password', 72), $person['password'])) {
        throw new Refused(403, 'This name and password do not belong together.');
    }
    session_start();
    session_regenerate_id(true);
    $_SESSION['viewer'] = ['id' => $person['id'], 'name' => $person['name']];
    session_write_close();
    return home_page("<p>Successfully logged in!</p>\n");
}

function logout(): string {
    if (isset($_COOKIE[session_name()])) {
        session_start();
        session_destroy();
        $_SESSION = [];
    }
    return home_page("<p>Logged out.</p>\n");
}

// The events of a tag. It keeps how often it is used, so counting them takes one row.
function tag_search(): string {
    [$name, $page] = [given($_GET, 'tag', 30), page_number()];
    $content = kept('tag:' . rawurlencode($name) . ":$page", KEPT_SECONDS, function () use ($name, $page) {
        $tag = first_row('SELECT id, uses FROM tag WHERE name = ?', [$name]) ?? ['id' => 0, 'uses' => 0];
        $events = rows('SELECT ' . EVENT_COLUMNS . ' FROM event_tag JOIN event ON event.id = event_tag.event_id
            JOIN person ON person.id = event.person_id WHERE event_tag.tag_id = ? ORDER BY event_tag.event_id LIMIT 10 OFFSET ?',
            [$tag['id'], 10 * ($page - 1)]);
        return event_list($events, 'found') . pager('/web20/tag?tag=' . rawurlencode($name) . '&amp;', $page, $tag['uses']);
    });
    return layout("Events tagged $name", $content, 'tag', 2);
}

// An event with its address, tags, attendees, and comments. Who is logged in may attend it, by a link as in Olio.
function event_detail(): string {
    $id = (int) given($_GET, 'id', 10);
    $viewer = viewer();
    $is_joining = $viewer !== null && given($_GET, 'attend', 3, false) === '1';
    if ($is_joining) {
        rows('INSERT IGNORE INTO attendance (event_id, person_id) SELECT id, ? FROM event WHERE id = ?', [$viewer['id'], $id]);
        forget("event:$id");
    }
    return layout('Event', kept("event:$id", KEPT_SECONDS, fn () => event_content($id)) . attend_link($id, $viewer), 'event', 5);
}

function event_content(int $id): string {
    $event = first_row('SELECT event.*, person.name AS person, address.* , event.id AS id FROM event
        JOIN person ON person.id = event.person_id JOIN address ON address.id = event.address_id WHERE event.id = ?', [$id]);
    if ($event === null) {
        throw new Refused(404, 'There is no such event.');
    }
    $tags = rows('SELECT tag.name, tag.uses FROM event_tag JOIN tag ON tag.id = event_tag.tag_id
        WHERE event_tag.event_id = ? ORDER BY tag.name', [$id]);
    $count = first_row('SELECT COUNT(*) AS count FROM attendance WHERE event_id = ?', [$id])['count'];
    $people = rows('SELECT person.name FROM attendance JOIN person ON person.id = attendance.person_id
        WHERE attendance.event_id = ? ORDER BY person.id LIMIT 20', [$id]);
    $comments = rows('SELECT comment.words, comment.stars, comment.created, person.name FROM comment
        JOIN person ON person.id = comment.person_id WHERE comment.event_id = ? ORDER BY comment.id LIMIT 50', [$id]);
    $said = array_map(fn ($one) => '<li>' . str_repeat('★', $one['stars']) . ' ' . person_link($one['name']) . ', '
        . moment($one['created']) . ': ' . escaped($one['words']) . "</li>\n", $comments);
    $leaflet = $event['leaflet'] === null ? '' : '<p><a href="/web20/image/' . escaped($event['leaflet']) . '">Leaflet</a></p>';
    $address = implode(', ', array_map(escaped(...), [$event['street'], $event['city'], $event['zip'], $event['country']]));
    return '<h2>' . escaped($event['title']) . '</h2><img src="/web20/image/' . escaped($event['picture'] ?? 'event-1') . '" alt="">'
        . '<p>' . moment($event['starts']) . ' (' . escaped($event['timezone']) . "), $address, " . escaped($event['telephone'])
        . '</p><p>' . escaped($event['description']) . '</p><p>Posted by ' . person_link($event['person']) . "</p>$leaflet"
        . cloud($tags) . "<h2>$count people attend</h2><p>" . implode(', ', array_map(fn ($one) => person_link($one['name']), $people))
        . '</p><h2>Comments</h2><ul>' . implode('', $said) . "</ul>\n";
}

function attend_link(int $id, ?array $viewer): string {
    if ($viewer === null) {
        return '';
    }
    $is_there = first_row('SELECT 1 FROM attendance WHERE event_id = ? AND person_id = ?', [$id, $viewer['id']]) !== null;
    return $is_there ? '<p>You attend.</p>' : "<p><a href=\"/web20/event?id=$id&amp;attend=1\">Attend</a></p>";
}

// A person with address, friends, and the events that they posted.
function person_detail(): string {
    $name = given($_GET, 'user', 25);
    $content = kept('person:' . rawurlencode($name), KEPT_SECONDS, fn () => person_content($name));
    return layout("About $name", $content, 'person', 1);
}

function person_content(string $name): string {
    $person = first_row('SELECT person.*, address.*, person.id AS id FROM person
        JOIN address ON address.id = person.address_id WHERE person.name = ?', [$name]);
    if ($person === null) {
        throw new Refused(404, 'There is no such person.');
    }
    $friends = rows('SELECT person.name FROM friendship JOIN person ON person.id = friendship.friend_id
        WHERE friendship.person_id = ? AND is_accepted = 1 ORDER BY person.id LIMIT 12', [$person['id']]);
    $asked = first_row('SELECT COUNT(*) AS count FROM friendship WHERE friend_id = ? AND is_accepted = 0', [$person['id']])['count'];
    $events = rows('SELECT id, title FROM event WHERE person_id = ? AND starts >= ? ORDER BY starts LIMIT 10', [$person['id'], TODAY]);
    $posted = array_map(fn ($event) => '<li>' . event_link($event['id'], $event['title']) . "</li>\n", $events);
    $address = implode(', ', array_map(escaped(...), [$person['street'], $person['city'], $person['zip'], $person['country']]));
    return '<img src="/web20/image/' . escaped($person['picture'] ?? 'person-1') . '" alt=""><p>' . escaped($person['first'] . ' ' . $person['last'])
        . ", $address, " . escaped($person['telephone']) . ' (' . escaped($person['timezone']) . ')</p><p>' . escaped($person['summary'])
        . '</p><h2>Friends</h2><p>' . implode(' ', array_map(fn ($one) => person_link($one['name']), $friends))
        . "</p><p>$asked requests</p><h2>Posted events</h2><ol>" . implode('', $posted) . "</ol>\n";
}
