<?php
// What php-fpm and the caches of PHP tell of themselves, as one document; a cache that is off is null.
$fpm = fpm_get_status() ?: [];
unset($fpm['procs']);
header('Content-Type: application/json');
echo json_encode([
    'fpm' => $fpm,
    'opcache' => function_exists('opcache_get_status') ? (opcache_get_status(false) ?: null) : null,
    'apcu' => function_exists('apcu_cache_info') ? (@apcu_cache_info(true) ?: null) : null,
], JSON_PARTIAL_OUTPUT_ON_ERROR);
