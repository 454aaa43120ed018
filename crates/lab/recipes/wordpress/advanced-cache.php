<?php
// Keeps whole pages in files for LAB_PAGE_SECONDS: what guests get by GET without a query, each page by host and path.
//
// WordPress loads this before anything else, so that a page that is kept costs one file and no database. A page appears
// under its name when it is whole, and only if it was an answer with status 200.

(function () {
    $uri = $_SERVER['REQUEST_URI'] ?? '';
    $is_plain = ($_SERVER['REQUEST_METHOD'] ?? '') === 'GET' && $_COOKIE === [] && !str_contains($uri, '?');
    if (PHP_SAPI === 'cli' || !$is_plain) {
        return;
    }
    $file = LAB_PAGES . '/' . md5(($_SERVER['HTTP_HOST'] ?? '') . $uri);
    $written = @filemtime($file);
    if ($written !== false && $written + LAB_PAGE_SECONDS > time()) {
        header('Content-Type: text/html; charset=UTF-8');
        header('X-Lab-Page: kept');
        readfile($file);
        exit;
    }
    ob_start(function (string $page, int $phase) use ($file) {
        $is_whole = ($phase & PHP_OUTPUT_HANDLER_START) && ($phase & PHP_OUTPUT_HANDLER_FINAL) && str_contains($page, '</html>');
        if ($is_whole && http_response_code() === 200) {
            $draft = $file . '.' . getmypid();
            if (file_put_contents($draft, $page) === strlen($page)) {
                rename($draft, $file);
            }
        }
        return $page;
    });
})();
