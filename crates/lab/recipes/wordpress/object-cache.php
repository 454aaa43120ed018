<?php
// Keeps objects of WordPress between requests, in APCu or in memcached, whichever LAB_OBJECT_CACHE names.
//
// What a request has read or written it also keeps by itself, so that it asks for each object once at most. Groups that
// WordPress says are not to last are kept by the request alone. A server that does not answer is an empty one.

final class Lab_Object_Cache {
    private array $own = [];
    private array $passing = [];
    private ?Memcached $server = null;

    public function __construct() {
        if (LAB_OBJECT_CACHE !== 'memcached') {
            return;
        }
        $this->server = new Memcached('lab');
        if ($this->server->getServerList() === []) {
            [$host, $port] = explode(':', LAB_MEMCACHED);
            $this->server->setOption(Memcached::OPT_TCP_NODELAY, true);
            $this->server->setOption(Memcached::OPT_CONNECT_TIMEOUT, 1000);
            $this->server->addServer($host, (int) $port);
        }
    }

    public function passing(array $groups): void {
        $this->passing += array_fill_keys($groups, true);
    }

    // Keys of memcached have no blanks, and 250 bytes at most.
    private function name($key, $group): string {
        $name = ($group ?: 'default') . ':' . $key;
        return preg_match('/^[!-~]{1,200}$/', $name) ? $name : ($group ?: 'default') . ':' . md5($name);
    }

    private static function copy($value) {
        return is_object($value) ? clone $value : $value;
    }

    public function get($key, $group, &$found) {
        $name = $this->name($key, $group);
        $found = array_key_exists($name, $this->own);
        if (!$found && !isset($this->passing[$group])) {
            $value = $this->fetch($name, $found);
            if ($found) {
                $this->own[$name] = $value;
            }
        }
        return $found ? self::copy($this->own[$name]) : false;
    }

    private function fetch(string $name, &$found) {
        if ($this->server === null) {
            return apcu_fetch($name, $found);
        }
        $value = $this->server->get($name);
        $found = $this->server->getResultCode() === Memcached::RES_SUCCESS;
        return $value;
    }

    public function set($key, $value, $group, int $seconds): bool {
        $name = $this->name($key, $group);
        $this->own[$name] = self::copy($value);
        if (isset($this->passing[$group])) {
            return true;
        }
        // More than 30 days would be an instant to memcached.
        $seconds = min(max($seconds, 0), 2592000);
        return $this->server === null ? apcu_store($name, $value, $seconds) : $this->server->set($name, $value, $seconds);
    }

    public function delete($key, $group): bool {
        $name = $this->name($key, $group);
        $was = array_key_exists($name, $this->own);
        unset($this->own[$name]);
        if (isset($this->passing[$group])) {
            return $was;
        }
        return $this->server === null ? apcu_delete($name) : $this->server->delete($name);
    }

    public function forget(): bool {
        $this->own = [];
        return true;
    }

    public function flush(): bool {
        $this->forget();
        return $this->server === null ? apcu_clear_cache() : $this->server->flush();
    }
}

function wp_cache_init() {
    $GLOBALS['wp_object_cache'] = new Lab_Object_Cache();
}

function wp_cache_get($key, $group = '', $force = false, &$found = null) {
    return $GLOBALS['wp_object_cache']->get($key, $group, $found);
}

function wp_cache_set($key, $data, $group = '', $expire = 0) {
    return $GLOBALS['wp_object_cache']->set($key, $data, $group, (int) $expire);
}

function wp_cache_add($key, $data, $group = '', $expire = 0) {
    if (wp_suspend_cache_addition()) {
        return false;
    }
    wp_cache_get($key, $group, false, $found);
    return !$found && wp_cache_set($key, $data, $group, $expire);
}

function wp_cache_replace($key, $data, $group = '', $expire = 0) {
    wp_cache_get($key, $group, false, $found);
    return $found && wp_cache_set($key, $data, $group, $expire);
}

function wp_cache_incr($key, $offset = 1, $group = '') {
    $value = wp_cache_get($key, $group, false, $found);
    if (!$found) {
        return false;
    }
    $value = max(0, (int) $value + (int) $offset);
    wp_cache_set($key, $value, $group);
    return $value;
}

function wp_cache_decr($key, $offset = 1, $group = '') {
    return wp_cache_incr($key, -(int) $offset, $group);
}

function wp_cache_delete($key, $group = '') {
    return $GLOBALS['wp_object_cache']->delete($key, $group);
}

function wp_cache_flush() {
    return $GLOBALS['wp_object_cache']->flush();
}

function wp_cache_flush_runtime() {
    return $GLOBALS['wp_object_cache']->forget();
}

function wp_cache_supports($feature) {
    return $feature === 'flush_runtime';
}

function wp_cache_add_non_persistent_groups($groups) {
    $GLOBALS['wp_object_cache']->passing((array) $groups);
}

// There is one site, so that every group is shared by all of them.
function wp_cache_add_global_groups($groups) {}

function wp_cache_switch_to_blog($site) {}

function wp_cache_close() {
    return true;
}
