<?php
// What all pages of the site share: the database, the cache, who is logged in, and the frame of a page.

declare(strict_types=1);

// A request that cannot be granted; its code is the status, its message is shown.
final class Refused extends Exception {
    public function __construct(int $status, string $message) {
        parent::__construct($message, $status);
    }
}

// A request uses the connection that an earlier one of its process has opened.
function database(): mysqli {
    static $link = null;
    if ($link === null) {
        mysqli_report(MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT);
        [$host, $port] = explode(':', DATABASE);
        $link = new mysqli("p:$host", DATABASE_NAME, DATABASE_NAME, DATABASE_NAME, (int) $port);
        $link->set_charset('utf8mb4');
    }
    return $link;
}

// All rows of a prepared statement; none if it has no result.
function rows(string $sql, array $values = []): array {
    $statement = database()->prepare($sql);
    $statement->execute($values);
    $result = $statement->get_result();
    return $result === false ? [] : $result->fetch_all(MYSQLI_ASSOC);
}

function first_row(string $sql, array $values): ?array {
    return rows($sql, $values)[0] ?? null;
}

// Runs $work in a transaction: all of it happens, or nothing.
function together(callable $work): mixed {
    database()->begin_transaction();
    try {
        $result = $work();
        database()->commit();
        return $result;
    } catch (Throwable $problem) {
        database()->rollback();
        throw $problem;
    }
}

function cache(): ?Memcached {
    static $server = null;
    if (CACHE === '' || $server !== null) {
        return $server;
    }
    $server = new Memcached('web20');
    if ($server->getServerList() === []) {
        [$host, $port] = explode(':', CACHE);
        $server->setOption(Memcached::OPT_TCP_NODELAY, true);
        $server->setOption(Memcached::OPT_CONNECT_TIMEOUT, 1000);
        $server->addServer($host, (int) $port);
    }
    return $server;
}

// What $make returns, or what it returned up to $seconds ago. When that is too old, one request renews it, and the others
// show the old text meanwhile; without this, all of them would ask the database at once.
function kept(string $key, int $seconds, callable $make): string {
    $server = cache();
    if ($server === null) {
        return $make();
    }
    $found = $server->get($key);
    $is_found = is_array($found);
    if ($is_found && $found[0] > time()) {
        return $found[1];
    }
    if ($is_found && !$server->add("$key:renewing", 1, 5)) {
        return $found[1];
    }
    $text = $make();
    $server->set($key, [time() + $seconds, $text], $seconds + 60);
    $server->delete("$key:renewing");
    return $text;
}

function forget(string $key): void {
    cache()?->delete($key);
}

// Who is logged in, as ['id' => …, 'name' => …]. Guests have no session, so they cost none.
function viewer(): ?array {
    static $viewer = false;
    if ($viewer === false) {
        if (isset($_COOKIE[session_name()])) {
            session_start(['read_and_close' => true]);
        }
        $viewer = $_SESSION['viewer'] ?? null;
    }
    return $viewer;
}

function escaped(string|int|null $text): string {
    return htmlspecialchars((string) $text, ENT_QUOTES | ENT_SUBSTITUTE, 'UTF-8');
}

// A parameter of the query or a field of a form. Whatever is no text, or is too long, is refused.
function given(array $from, string $name, int $most, bool $is_required = true): string {
    $value = $from[$name] ?? '';
    if (!is_string($value) || strlen($value) > $most || !is_utf8($value)) {
        throw new Refused(400, "'$name' has up to $most letters.");
    }
    $value = trim($value);
    if ($value === '' && $is_required) {
        throw new Refused(400, "'$name' is missing.");
    }
    return $value;
}

// As mb_check_encoding(), which not every PHP has.
function is_utf8(string $text): bool {
    return preg_match('//u', $text) === 1;
}

function page_number(): int {
    return min(max((int) given($_GET, 'page', 5, false), 1), 1000);
}

// The frame of all pages. What it embeds is what browsers fetch and keep: styles, scripts, and the pictures of the frame, and
// $count more of the kind $own.
function layout(string $title, string $content, string $own = '', int $count = 0): string {
    $embedded = '';
    $names = array_map(fn ($number) => "site-$number", range(1, 16));
    $names = array_merge($names, $count > 0 ? array_map(fn ($number) => "$own-$number", range(1, $count)) : []);
    foreach ($names as $place => $name) {
        $url = "/web20/static/$name";
        $embedded .= match (true) {
            $place < 4 => "<script src=\"$url\" defer></script>\n",
            $place < 6 => "<link rel=\"stylesheet\" href=\"$url\">\n",
            default => "<img src=\"$url\" alt=\"\" class=\"frame\">\n",
        };
    }
    $viewer = viewer();
    $who = $viewer === null
        ? '<form method="post" action="/web20/login"><input name="user_name" placeholder="Name"> '
            . '<input name="password" type="password" placeholder="Password"> <button>Log in</button></form>'
        : 'Hello, ' . person_link($viewer['name']) . ' · <a href="/web20/event/new">Add an event</a> · <a href="/web20/logout">Log out</a>';
    $title = escaped($title);
    return <<<HTML
        <!DOCTYPE html>
        <html lang="en">
        <head><meta charset="utf-8"><title>$title</title>
        <style>body { font: 15px sans-serif; max-width: 60em; margin: auto } .frame { display: none } .error { color: #a00 }</style>
        </head>
        <body>
        <header><a href="/web20/home">Events</a> · <a href="/web20/person/new">Join</a> · $who</header>
        <main><h1>$title</h1>
        $content</main>
        <footer>$embedded</footer>
        </body>
        </html>
        HTML;
}

function person_link(string $name): string {
    return '<a href="/web20/person?user=' . rawurlencode($name) . '">' . escaped($name) . '</a>';
}

function event_link(int $id, string $title): string {
    return "<a href=\"/web20/event?id=$id\">" . escaped($title) . '</a>';
}

// Tags, the larger the more often they were used.
function cloud(array $tags): string {
    $uses = array_column($tags, 'uses');
    $least = $uses === [] ? 0 : min($uses);
    $spread = $uses === [] ? 1 : max(max($uses) - $least, 1);
    $words = array_map(function (array $tag) use ($least, $spread) {
        $size = 100 + intdiv(150 * ($tag['uses'] - $least), $spread);
        $link = '/web20/tag?tag=' . rawurlencode($tag['name']);
        return "<a href=\"$link\" style=\"font-size: $size%\" title=\"{$tag['uses']} events\">" . escaped($tag['name']) . '</a>';
    }, $tags);
    return '<nav class="cloud">' . implode(' ', $words) . "</nav>\n";
}

// Events with their small pictures: those of the front page, or those of a search.
function event_list(array $events, string $size): string {
    $items = array_map(function (array $event) use ($size) {
        $picture = $event['picture'] ?? ($size . '-' . ($event['id'] % 10 + 1));
        return '<li><img src="/web20/image/' . escaped($picture) . '" alt=""><h2>' . event_link($event['id'], $event['title'])
            . '</h2><p>' . escaped($event['summary']) . '</p><p>' . moment($event['starts']) . ', posted by '
            . person_link($event['person']) . ' on ' . moment($event['created']) . "</p></li>\n";
    }, $events);
    return $items === [] ? "<p>No events.</p>\n" : '<ol>' . implode('', $items) . "</ol>\n";
}

function pager(string $link, int $page, int $count): string {
    $pages = max(intdiv($count + 9, 10), 1);
    $around = array_filter(range($page - 2, $page + 2), fn ($number) => $number >= 1 && $number <= $pages);
    $links = array_map(fn ($number) => $number === $page ? "<b>$number</b>" : "<a href=\"{$link}page=$number\">$number</a>", $around);
    return '<p>Page ' . implode(' ', $links) . " of $pages</p>\n";
}

function moment(string $when): string {
    return (new DateTimeImmutable($when))->format('l, F j, Y, h:i A');
}
