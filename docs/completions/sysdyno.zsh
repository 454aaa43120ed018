#compdef sysdyno

autoload -U is-at-least

_sysdyno() {
    typeset -A opt_args
    typeset -a _arguments_options
    local ret=1

    if is-at-least 5.2; then
        _arguments_options=(-s -S -C)
    else
        _arguments_options=(-s -C)
    fi

    local context curcontext="$curcontext" state line
    _arguments "${_arguments_options[@]}" : \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
":: :_sysdyno_commands" \
"*::: :->sysdyno" \
&& ret=0
    case $state in
    (sysdyno)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:sysdyno-command-$line[1]:"
        case $line[1] in
            (demo)
_arguments "${_arguments_options[@]}" : \
'--bottleneck=[The bottleneck to plant\: accept-queue (connections find it full; its remedy is tried and proved), worker-pool (all workers wait while the CPUs idle) or single-thread (one thread works alone)]:BOTTLENECK:((accept-queue\:"A queue of connections that is too short"
worker-pool\:"A pool of workers that all wait"
single-thread\:"One thread that works alone"))' \
'--runs-dir=[Folder of the runs \[default\: ~/.local/state/sysdyno/runs\]]:FOLDER:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'--json[Print the result as one JSON document]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
&& ret=0
;;
(run)
_arguments "${_arguments_options[@]}" : \
'--objective=[What a rate must meet to count as carried, as p99<20ms \[default\: p99<50ms\]]:pN<DURATION:_default' \
'--effort=[How long the search may take\: about 1, 4 or 15 minutes \[default\: standard\]]:EFFORT:((quick\:"About a minute, and a quarter more at most\: short windows, one certification pass"
standard\:"About four minutes"
thorough\:"About fifteen minutes\: windows of 30 s, five certification passes"))' \
'-c+[Connections that the offered rate may use; a range (10..700) or a list measures the closed-loop curve instead \[default\: 256\]]:N | A..B | N,…:_default' \
'--connections=[Connections that the offered rate may use; a range (10..700) or a list measures the closed-loop curve instead \[default\: 256\]]:N | A..B | N,…:_default' \
'--max-rate=[Try no rate above this]:RATE:_default' \
'--arrival=[How requests arrive \[default\: poisson\]]:ARRIVAL:((poisson\:"Exponential gaps, as of many independent users"
constant\:"Equal gaps"))' \
'--window=[Length of each measured window, instead of the effort'\''s]:DURATION:_default' \
'*--fail-if=[Fail (exit code 1) if this holds, as in '\''p99>20ms'\'', '\''errors>0.1%'\'' or '\''goodput<5k/s'\''; may be given several times]:METRIC OP LIMIT:_default' \
'--urls=[File of URLs of this server, one in a line with its weight\: '\''\[WEIGHT\] \[METHOD\] URL'\'']:FILE:_files' \
'(--urls)--mix=[Access log (common or combined format) whose GET and HEAD requests are drawn as often as they stand in it]:LOG:_files' \
'--need=[Access log of real traffic (common or combined format); the capacity is said in times of its busiest minute]:LOG:_files' \
'-m+[Method of the request \[default\: GET\]]:METHOD:_default' \
'--method=[Method of the request \[default\: GET\]]:METHOD:_default' \
'*-H+[Header field of the request; may be given several times]:NAME: VALUE:_default' \
'*--header=[Header field of the request; may be given several times]:NAME: VALUE:_default' \
'-p+[File with the body of the request]:FILE:_files' \
'--body-file=[File with the body of the request]:FILE:_files' \
'--content-type=[Content type of that body]:TYPE:_default' \
'*--expect-status=[Accepted status codes \[default\: 200 to 399\]]:CODE,…:_default' \
'--expect-length=[Exact length of the body in bytes]:BYTES:_default' \
'--expect-header=[Header field that the response must have, with this value if one is given]:NAME[: VALUE]:_default' \
'--expect-body=[Text that the body must contain]:TEXT:_default' \
'(--same-body)--any-body=[Accept bodies that differ from the first one; without this, they are failures]::BOOL:_default' \
'--max-body=[Longest body that is read to its end \[default\: 64MiB\]]:SIZE:_default' \
'--timeout=[Give a request up this long after its intended send \[default\: 10s\]]:DURATION:_default' \
'(--timeout --content-type)-T+[A duration\: --timeout, as wrk has it; a type with a slash\: --content-type, as ab has it]:DURATION | TYPE:_default' \
'--connect-timeout=[Give a connection up after this long \[default\: 5s\]]:DURATION:_default' \
'--idle-timeout=[Give a request up when nothing has come for this long \[default\: the timeout\]]:DURATION:_default' \
'(--requests-per-connection)--no-keepalive=[Open a connection per request, as ab does without -k]::BOOL:_default' \
'--requests-per-connection=[Requests per connection \[default\: as many as the server takes\]]:N:_default' \
'-t+[Generator threads \[default\: half of the CPUs\]]:N:_default' \
'--threads=[Generator threads \[default\: half of the CPUs\]]:N:_default' \
'--io=[How to talk to the kernel \[default\: uring where the kernel has and allows it, else epoll\]]:IO:((auto\:"io_uring where the kernel has and allows it, else epoll"
uring\:"io_uring, or no load"
epoll\:"epoll"))' \
'--spin=[Spin before what is due in an open load, instead of sleeping \[default\: where the server runs on other CPUs\]]:SPIN:((auto\:"Where the server runs on other CPUs"
on\:"Until it is found that something else runs on the generator'\''s CPUs"
off\:"Never"))' \
'--stamps=[Which instant ends a latency\: when the kernel got the response, or when it was read \[default\: kernel\]]:STAMPS:((kernel\:"When the kernel got the packet; over TCP"
user\:"When the generator read it"))' \
'--seed=[Seed of arrivals and orders \[default\: drawn, and recorded\]]:N:_default' \
'*--watch-pid=[Process of the service to measure, too\: an application server, a database. Those that hold the target'\''s socket always are]:PID:_default' \
'--http2=[Speak HTTP/2\: over TLS by alpn, over a plain socket by prior knowledge; without a value, as the URL says]::HTTP2:((auto\:"By alpn for https\://, by prior knowledge for http\://"
alpn\:"In the TLS handshake; of a target https\://"
prior\:"It is known to; of a target http\://"))' \
'--streams=[Requests at a time on each connection of HTTP/2 \[default\: 1\]]:N:_default' \
'--tls-ca=[File with the certificates to trust (PEM) \[default\: those that the system trusts\]]:FILE:_files' \
'--tls-cert=[File with the client'\''s certificate (PEM)]:FILE:_files' \
'--tls-key=[File with the key of the client'\''s certificate (PEM)]:FILE:_files' \
'--tls-name=[Name to ask for and to find in the certificate \[default\: the host of the URL\]]:NAME:_default' \
'--tls-version=[The one version to offer \[default\: 1.2 and 1.3\]]:TLS_VERSION:((1.2\:"TLS 1.2"
1.3\:"TLS 1.3"))' \
'--tls-resume=[Share of the connections that resume a session instead of a full handshake, as 90% or 0.9 \[default\: 0%\]]:SHARE:_default' \
'--insecure=[Take any certificate; said in the verdict of every run]::BOOL:_default' \
'--mc-preset=[A published workload instead of the defaults below\: etc, the general pool of Facebook in 2012]:NAME:((etc\:"30 gets to a set, sizes of keys and values as published (Atikoglu et al., SIGMETRICS 2012)"))' \
'--mc-protocol=[Commands to use \[default\: text\]]:MC_PROTOCOL:((text\:"get and set"
meta\:"mg and ms, since memcached 1.6"))' \
'--mc-gets=[Share of the requests that read, as 90% or 0.9; the others store \[default\: 90%\]]:SHARE:_default' \
'--mc-multiget=[Keys that one reading request asks for \[default\: 1\]]:N:_default' \
'--mc-keys=[Number of different keys \[default\: 100000\]]:N:_default' \
'--mc-popularity=[Which keys are asked for how often\: uniform, or zipf\:EXPONENT \[default\: uniform\]]:uniform | zipf[:S]:_default' \
'--mc-key-size=[Length of the keys \[default\: 30\]]:SIZE | A..B | etc:_default' \
'--mc-value-size=[Length of the values \[default\: 200\]]:SIZE | A..B | etc:_default' \
'--mc-expiry=[How long the server is to keep a value \[default\: for ever\]]:DURATION:_default' \
'--mc-no-verify=[Do not compare values that are read with those that belong to their keys]::BOOL:_default' \
'--mc-no-preload=[Do not store all keys before the load]::BOOL:_default' \
'--server=[Host of the server, whose counters are read too\: netns\:NAME, netns\:/PATH, \[USER@\]HOST or ssh\://\[USER@\]HOST\[\:PORT\]]:HOST:_default' \
'*--load-from=[Hosts that send the load together, instead of this process\: as for --server, or '\''here'\'']:HOST,…:_default' \
'--ssh-config=[Configuration for ssh \[default\: ssh'\''s own\]]:FILE:_files' \
'*--source=[Addresses of this host that connections come from, in turn \[default\: the kernel'\''s choice\]]:ADDRESS,…:_default' \
'--proxy-protocol=[Begin each connection with a PROXY header that says its own addresses, for servers that expect one]:VERSION:((v1\:"One line of text"
v2\:"Binary"))' \
'--churn=[Close so many connections after a response and make new ones, as in 100/s; this host closes first]:RATE:_default' \
'--probe=[Measure beside the load, ten times a second, what an outsider waits\: for the same request (http), a connection (tcp) or an echo (icmp)]:KIND:((http\:"A request on a kept connection"
tcp\:"A connection, made and closed"
icmp\:"An ICMP echo, as of ping"))' \
'--probe-log=[Write a line per operation of the probe, with its time, into this file]:FILE:_files' \
'--runs-dir=[Folder of the runs \[default\: ~/.local/state/sysdyno/runs\]]:FOLDER:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'--same-body[Fail bodies that differ from the first one (the default)]' \
'(--no-keepalive)-k[Keep connections, as ab and weighttp say it (the default here)]' \
'(--no-keepalive)--keep-alive[Keep connections, as ab and weighttp say it (the default here)]' \
'--server-sudo[Start the program there by \`sudo -n\`, to see the processes of other users]' \
'--target-is-mine[Say that the target is yours to load, though a router leads to it; without this, a terminal is asked]' \
'--dry-run[Print the plan, with the most load that it can send, and do nothing]' \
'--json[Print the result as one JSON document]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
':url -- The server\: http\[s\]\://HOST\[\:PORT\]/PATH, unix\:SOCKET\[\:/PATH\], or memcached\[s\]\://HOST\[\:PORT\]:_default' \
&& ret=0
;;
(load)
_arguments "${_arguments_options[@]}" : \
'-c+[Connections; without --rate, each is a client that sends when it was answered \[default\: 64\]]:N:_default' \
'--connections=[Connections; without --rate, each is a client that sends when it was answered \[default\: 64\]]:N:_default' \
'(-n --requests)-d+[Length of the load; a bare number is seconds, as in wrk \[default\: 10s\]]:DURATION:_default' \
'(-n --requests)--duration=[Length of the load; a bare number is seconds, as in wrk \[default\: 10s\]]:DURATION:_default' \
'-n+[Send this many requests]:N:_default' \
'--requests=[Send this many requests]:N:_default' \
'-r+[Offered rate; makes the load an open one, in which requests are sent whether or not others were answered]:RATE:_default' \
'--rate=[Offered rate; makes the load an open one, in which requests are sent whether or not others were answered]:RATE:_default' \
'(-r --rate -n --requests)*--steps=[Several rates in turn, each for the duration]:RATE,…:_default' \
'(-r --rate --steps -n --requests -d --duration)--ramp=[A rate, or a number of clients, that changes\: 100/s..5k/s\:60s, steps\:100/s..1k/s\:10x30s, 10..200\:60s, or a file]:RAMP | FILE:_default' \
'--objective=[What a ramp or steps must meet; the answer is where it broke \[default\: p99<50ms\]]:pN<DURATION:_default' \
'--arrival=[How requests of an open load arrive \[default\: poisson\]]:ARRIVAL:((poisson\:"Exponential gaps, as of many independent users"
constant\:"Equal gaps"))' \
'--warmup=[Load before the measured one \[default\: 0s\]]:DURATION:_default' \
'*--fail-if=[Fail (exit code 1) if this holds, as in '\''p99>20ms'\'', '\''errors>0.1%'\'' or '\''goodput<5k/s'\''; may be given several times]:METRIC OP LIMIT:_default' \
'--urls=[File of URLs of this server, one in a line with its weight\: '\''\[WEIGHT\] \[METHOD\] URL'\'']:FILE:_files' \
'(--urls)--mix=[Access log (common or combined format) whose GET and HEAD requests are drawn as often as they stand in it]:LOG:_files' \
'(--urls --mix -r --rate --steps -n --requests --warmup --arrival)--replay=[Access log (common or combined format) whose GET and HEAD requests are sent at the instants at which they came]:LOG:_files' \
'--speed=[How many times as fast as the log\: 2x, 0.5x \[default\: 1x\]]:FACTOR:_default' \
'(--urls --mix --replay --steps -n --requests --arrival -p --body-file)--session=[Simulate users\: '\''web20'\'', or a TOML file of operations, what follows them, and when]:web20 | FILE:_default' \
'(-r --rate)--users=[Users at the same time \[default\: what the session says\]]:N:_default' \
'--pages-only=[Leave out what pages embed, and files that are sent]::BOOL:_default' \
'-m+[Method of the request \[default\: GET\]]:METHOD:_default' \
'--method=[Method of the request \[default\: GET\]]:METHOD:_default' \
'*-H+[Header field of the request; may be given several times]:NAME: VALUE:_default' \
'*--header=[Header field of the request; may be given several times]:NAME: VALUE:_default' \
'-p+[File with the body of the request]:FILE:_files' \
'--body-file=[File with the body of the request]:FILE:_files' \
'--content-type=[Content type of that body]:TYPE:_default' \
'*--expect-status=[Accepted status codes \[default\: 200 to 399\]]:CODE,…:_default' \
'--expect-length=[Exact length of the body in bytes]:BYTES:_default' \
'--expect-header=[Header field that the response must have, with this value if one is given]:NAME[: VALUE]:_default' \
'--expect-body=[Text that the body must contain]:TEXT:_default' \
'(--same-body)--any-body=[Accept bodies that differ from the first one; without this, they are failures]::BOOL:_default' \
'--max-body=[Longest body that is read to its end \[default\: 64MiB\]]:SIZE:_default' \
'--timeout=[Give a request up this long after its intended send \[default\: 10s\]]:DURATION:_default' \
'(--timeout --content-type)-T+[A duration\: --timeout, as wrk has it; a type with a slash\: --content-type, as ab has it]:DURATION | TYPE:_default' \
'--connect-timeout=[Give a connection up after this long \[default\: 5s\]]:DURATION:_default' \
'--idle-timeout=[Give a request up when nothing has come for this long \[default\: the timeout\]]:DURATION:_default' \
'(--requests-per-connection)--no-keepalive=[Open a connection per request, as ab does without -k]::BOOL:_default' \
'--requests-per-connection=[Requests per connection \[default\: as many as the server takes\]]:N:_default' \
'-t+[Generator threads \[default\: half of the CPUs\]]:N:_default' \
'--threads=[Generator threads \[default\: half of the CPUs\]]:N:_default' \
'--io=[How to talk to the kernel \[default\: uring where the kernel has and allows it, else epoll\]]:IO:((auto\:"io_uring where the kernel has and allows it, else epoll"
uring\:"io_uring, or no load"
epoll\:"epoll"))' \
'--spin=[Spin before what is due in an open load, instead of sleeping \[default\: where the server runs on other CPUs\]]:SPIN:((auto\:"Where the server runs on other CPUs"
on\:"Until it is found that something else runs on the generator'\''s CPUs"
off\:"Never"))' \
'--stamps=[Which instant ends a latency\: when the kernel got the response, or when it was read \[default\: kernel\]]:STAMPS:((kernel\:"When the kernel got the packet; over TCP"
user\:"When the generator read it"))' \
'--seed=[Seed of arrivals and orders \[default\: drawn, and recorded\]]:N:_default' \
'*--watch-pid=[Process of the service to measure, too\: an application server, a database. Those that hold the target'\''s socket always are]:PID:_default' \
'--http2=[Speak HTTP/2\: over TLS by alpn, over a plain socket by prior knowledge; without a value, as the URL says]::HTTP2:((auto\:"By alpn for https\://, by prior knowledge for http\://"
alpn\:"In the TLS handshake; of a target https\://"
prior\:"It is known to; of a target http\://"))' \
'--streams=[Requests at a time on each connection of HTTP/2 \[default\: 1\]]:N:_default' \
'--tls-ca=[File with the certificates to trust (PEM) \[default\: those that the system trusts\]]:FILE:_files' \
'--tls-cert=[File with the client'\''s certificate (PEM)]:FILE:_files' \
'--tls-key=[File with the key of the client'\''s certificate (PEM)]:FILE:_files' \
'--tls-name=[Name to ask for and to find in the certificate \[default\: the host of the URL\]]:NAME:_default' \
'--tls-version=[The one version to offer \[default\: 1.2 and 1.3\]]:TLS_VERSION:((1.2\:"TLS 1.2"
1.3\:"TLS 1.3"))' \
'--tls-resume=[Share of the connections that resume a session instead of a full handshake, as 90% or 0.9 \[default\: 0%\]]:SHARE:_default' \
'--insecure=[Take any certificate; said in the verdict of every run]::BOOL:_default' \
'--mc-preset=[A published workload instead of the defaults below\: etc, the general pool of Facebook in 2012]:NAME:((etc\:"30 gets to a set, sizes of keys and values as published (Atikoglu et al., SIGMETRICS 2012)"))' \
'--mc-protocol=[Commands to use \[default\: text\]]:MC_PROTOCOL:((text\:"get and set"
meta\:"mg and ms, since memcached 1.6"))' \
'--mc-gets=[Share of the requests that read, as 90% or 0.9; the others store \[default\: 90%\]]:SHARE:_default' \
'--mc-multiget=[Keys that one reading request asks for \[default\: 1\]]:N:_default' \
'--mc-keys=[Number of different keys \[default\: 100000\]]:N:_default' \
'--mc-popularity=[Which keys are asked for how often\: uniform, or zipf\:EXPONENT \[default\: uniform\]]:uniform | zipf[:S]:_default' \
'--mc-key-size=[Length of the keys \[default\: 30\]]:SIZE | A..B | etc:_default' \
'--mc-value-size=[Length of the values \[default\: 200\]]:SIZE | A..B | etc:_default' \
'--mc-expiry=[How long the server is to keep a value \[default\: for ever\]]:DURATION:_default' \
'--mc-no-verify=[Do not compare values that are read with those that belong to their keys]::BOOL:_default' \
'--mc-no-preload=[Do not store all keys before the load]::BOOL:_default' \
'--server=[Host of the server, whose counters are read too\: netns\:NAME, netns\:/PATH, \[USER@\]HOST or ssh\://\[USER@\]HOST\[\:PORT\]]:HOST:_default' \
'*--load-from=[Hosts that send the load together, instead of this process\: as for --server, or '\''here'\'']:HOST,…:_default' \
'--ssh-config=[Configuration for ssh \[default\: ssh'\''s own\]]:FILE:_files' \
'*--source=[Addresses of this host that connections come from, in turn \[default\: the kernel'\''s choice\]]:ADDRESS,…:_default' \
'--proxy-protocol=[Begin each connection with a PROXY header that says its own addresses, for servers that expect one]:VERSION:((v1\:"One line of text"
v2\:"Binary"))' \
'--churn=[Close so many connections after a response and make new ones, as in 100/s; this host closes first]:RATE:_default' \
'--probe=[Measure beside the load, ten times a second, what an outsider waits\: for the same request (http), a connection (tcp) or an echo (icmp)]:KIND:((http\:"A request on a kept connection"
tcp\:"A connection, made and closed"
icmp\:"An ICMP echo, as of ping"))' \
'--probe-log=[Write a line per operation of the probe, with its time, into this file]:FILE:_files' \
'(--files)--command=[Run this command again and again\: -n times \[default\: 10\] or for -d, each at most for --timeout \[default\: 1h\]]:COMMAND:_default' \
'--prepare=[Run this command before each run; not measured, and the end of all if it fails]:COMMAND:_default' \
'--clean=[Run this command after each run, also after one that was cut off; not measured]:COMMAND:_default' \
'--cache=[State of the page cache before a run \[default\: as-is\]]:STATE:((as-is\:"Whatever it is"
cold\:"Dropped before each run, for the whole host; needs root and --accept-drop-caches"
warm\:"The command has run once, unmeasured"))' \
'()--files=[Create, lock, sync, rename and remove small files in this folder, for -d \[default\: 10s\] or -n files; it must be new or empty]:FOLDER:_files' \
'--file-count=[Files that each worker keeps \[default\: 1000\]]:N:_default' \
'--file-size=[Length of each file \[default\: 4KiB\]]:SIZE:_default' \
'--workers=[Workers side by side, each on one operation at a time \[default\: 1\]]:N:_default' \
'--runs-dir=[Folder of the runs \[default\: ~/.local/state/sysdyno/runs\]]:FOLDER:_files' \
'(--json)--output=[Form of the result \[default\: text\]]:FORM:((text\:"One screen for people"
json\:"One JSON document"
csv\:"One header, and a line for each measured phase"
hdr\:"The percentile text of HdrHistogram, for its plotters"
ab\:"The text of ApacheBench, for scripts that read it"))' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'--same-body[Fail bodies that differ from the first one (the default)]' \
'(--no-keepalive)-k[Keep connections, as ab and weighttp say it (the default here)]' \
'(--no-keepalive)--keep-alive[Keep connections, as ab and weighttp say it (the default here)]' \
'--server-sudo[Start the program there by \`sudo -n\`, to see the processes of other users]' \
'--target-is-mine[Say that the target is yours to load, though a router leads to it; without this, a terminal is asked]' \
'--shell[Let /bin/sh read these commands]' \
'--show-output[Let the output of these commands through, to standard error]' \
'--accept-drop-caches[Agree that --cache cold drops the page cache of the whole host before each run]' \
'--dry-run[Print the plan, with the most load that it can send, and do nothing]' \
'--json[Print the result as one JSON document, as --output json]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'::url -- The server\: http\[s\]\://HOST\[\:PORT\]/PATH, unix\:SOCKET\[\:/PATH\], or memcached\[s\]\://HOST\[\:PORT\]:_default' \
&& ret=0
;;
(try)
_arguments "${_arguments_options[@]}" : \
'()--a=[Command that is A; its time is the metric]:COMMAND:_default' \
'--b=[Command that is B]:COMMAND:_default' \
'(--a)--experiment=[File that says what A and B are, and any option]:FILE:_files' \
'--metric=[What decides\: cpu (per request, at a fixed rate), goodput, p99, capacity, or time (of commands) \[default\: cpu, of commands time\]]:METRIC:((cpu\:"CPU time of the server'\''s processes per request"
goodput\:"Completed and valid requests"
p99\:"99th percentile of the latency"
capacity\:"Highest rate that meets p99<50ms"
time\:"How long a command takes"
cpu-time\:"CPU time of a command"))' \
'--effect=[The smallest effect that matters \[default\: 3% of cpu, goodput and time, 5% of capacity, 10% of p99\]]:PERCENT:_default' \
'--budget=[How long it may take \[default\: 20m\]]:DURATION:_default' \
'--pairs=[Most pairs of one comparison, at least 8 \[default\: 40\]]:N:_default' \
'--window=[Length of each measured window \[default\: 10s\]]:DURATION:_default' \
'--warmup=[Load before each window \[default\: what the pilot needs to settle\]]:DURATION:_default' \
'-c+[Connections; of a closed load, each is a client \[default\: 64\]]:N:_default' \
'--connections=[Connections; of a closed load, each is a client \[default\: 64\]]:N:_default' \
'(--share)-r+[Offered rate of each trial \[default\: a share of what the pilot finds; for goodput, as much as the connections take\]]:RATE:_default' \
'(--share)--rate=[Offered rate of each trial \[default\: a share of what the pilot finds; for goodput, as much as the connections take\]]:RATE:_default' \
'--share=[Offered rate as a share of what the weaker of A and B takes \[default\: 70%\]]:PERCENT:_default' \
'--arrival=[How requests of an open load arrive \[default\: poisson\]]:ARRIVAL:((poisson\:"Exponential gaps, as of many independent users"
constant\:"Equal gaps"))' \
'--keep=[Keep the change until the next boot if B is better and every guardrail held]::BOOL:_default' \
'--calibrate=[Compare the host with itself, to learn what it can resolve; later verdicts quote it]::BOOL:_default' \
'--noisy=[Count pairs whatever others do on the host\: the interval gets wider instead]::BOOL:_default' \
'*--fail-if=[Fail (exit code 1) if this is the word]:WORD:((better\:"B is better"
worse\:"B is worse"
same\:"B is the same"
cannot-tell\:"It can'\''t be told"))' \
'-m+[Method of the request \[default\: GET\]]:METHOD:_default' \
'--method=[Method of the request \[default\: GET\]]:METHOD:_default' \
'*-H+[Header field of the request; may be given several times]:NAME: VALUE:_default' \
'*--header=[Header field of the request; may be given several times]:NAME: VALUE:_default' \
'-p+[File with the body of the request]:FILE:_files' \
'--body-file=[File with the body of the request]:FILE:_files' \
'--content-type=[Content type of that body]:TYPE:_default' \
'*--expect-status=[Accepted status codes \[default\: 200 to 399\]]:CODE,…:_default' \
'--expect-length=[Exact length of the body in bytes]:BYTES:_default' \
'--expect-header=[Header field that the response must have, with this value if one is given]:NAME[: VALUE]:_default' \
'--expect-body=[Text that the body must contain]:TEXT:_default' \
'(--same-body)--any-body=[Accept bodies that differ from the first one; without this, they are failures]::BOOL:_default' \
'--max-body=[Longest body that is read to its end \[default\: 64MiB\]]:SIZE:_default' \
'--timeout=[Give a request up this long after its intended send \[default\: 10s\]]:DURATION:_default' \
'(--timeout --content-type)-T+[A duration\: --timeout, as wrk has it; a type with a slash\: --content-type, as ab has it]:DURATION | TYPE:_default' \
'--connect-timeout=[Give a connection up after this long \[default\: 5s\]]:DURATION:_default' \
'--idle-timeout=[Give a request up when nothing has come for this long \[default\: the timeout\]]:DURATION:_default' \
'(--requests-per-connection)--no-keepalive=[Open a connection per request, as ab does without -k]::BOOL:_default' \
'--requests-per-connection=[Requests per connection \[default\: as many as the server takes\]]:N:_default' \
'-t+[Generator threads \[default\: half of the CPUs\]]:N:_default' \
'--threads=[Generator threads \[default\: half of the CPUs\]]:N:_default' \
'--io=[How to talk to the kernel \[default\: uring where the kernel has and allows it, else epoll\]]:IO:((auto\:"io_uring where the kernel has and allows it, else epoll"
uring\:"io_uring, or no load"
epoll\:"epoll"))' \
'--spin=[Spin before what is due in an open load, instead of sleeping \[default\: where the server runs on other CPUs\]]:SPIN:((auto\:"Where the server runs on other CPUs"
on\:"Until it is found that something else runs on the generator'\''s CPUs"
off\:"Never"))' \
'--stamps=[Which instant ends a latency\: when the kernel got the response, or when it was read \[default\: kernel\]]:STAMPS:((kernel\:"When the kernel got the packet; over TCP"
user\:"When the generator read it"))' \
'--seed=[Seed of arrivals and orders \[default\: drawn, and recorded\]]:N:_default' \
'*--watch-pid=[Process of the service to measure, too\: an application server, a database. Those that hold the target'\''s socket always are]:PID:_default' \
'--http2=[Speak HTTP/2\: over TLS by alpn, over a plain socket by prior knowledge; without a value, as the URL says]::HTTP2:((auto\:"By alpn for https\://, by prior knowledge for http\://"
alpn\:"In the TLS handshake; of a target https\://"
prior\:"It is known to; of a target http\://"))' \
'--streams=[Requests at a time on each connection of HTTP/2 \[default\: 1\]]:N:_default' \
'--tls-ca=[File with the certificates to trust (PEM) \[default\: those that the system trusts\]]:FILE:_files' \
'--tls-cert=[File with the client'\''s certificate (PEM)]:FILE:_files' \
'--tls-key=[File with the key of the client'\''s certificate (PEM)]:FILE:_files' \
'--tls-name=[Name to ask for and to find in the certificate \[default\: the host of the URL\]]:NAME:_default' \
'--tls-version=[The one version to offer \[default\: 1.2 and 1.3\]]:TLS_VERSION:((1.2\:"TLS 1.2"
1.3\:"TLS 1.3"))' \
'--tls-resume=[Share of the connections that resume a session instead of a full handshake, as 90% or 0.9 \[default\: 0%\]]:SHARE:_default' \
'--insecure=[Take any certificate; said in the verdict of every run]::BOOL:_default' \
'--mc-preset=[A published workload instead of the defaults below\: etc, the general pool of Facebook in 2012]:NAME:((etc\:"30 gets to a set, sizes of keys and values as published (Atikoglu et al., SIGMETRICS 2012)"))' \
'--mc-protocol=[Commands to use \[default\: text\]]:MC_PROTOCOL:((text\:"get and set"
meta\:"mg and ms, since memcached 1.6"))' \
'--mc-gets=[Share of the requests that read, as 90% or 0.9; the others store \[default\: 90%\]]:SHARE:_default' \
'--mc-multiget=[Keys that one reading request asks for \[default\: 1\]]:N:_default' \
'--mc-keys=[Number of different keys \[default\: 100000\]]:N:_default' \
'--mc-popularity=[Which keys are asked for how often\: uniform, or zipf\:EXPONENT \[default\: uniform\]]:uniform | zipf[:S]:_default' \
'--mc-key-size=[Length of the keys \[default\: 30\]]:SIZE | A..B | etc:_default' \
'--mc-value-size=[Length of the values \[default\: 200\]]:SIZE | A..B | etc:_default' \
'--mc-expiry=[How long the server is to keep a value \[default\: for ever\]]:DURATION:_default' \
'--mc-no-verify=[Do not compare values that are read with those that belong to their keys]::BOOL:_default' \
'--mc-no-preload=[Do not store all keys before the load]::BOOL:_default' \
'--urls=[File of URLs of this server, one in a line with its weight\: '\''\[WEIGHT\] \[METHOD\] URL'\'']:FILE:_files' \
'(--urls)--mix=[Access log (common or combined format) whose GET and HEAD requests are drawn as often as they stand in it]:LOG:_files' \
'--runs-dir=[Folder of the runs \[default\: ~/.local/state/sysdyno/runs\]]:FOLDER:_files' \
'--state-dir=[State folder of settings; journals lie in '\''tune'\'' below it \[default\: /var/lib/sysdyno\]]:FOLDER:_files' \
'--root=[Tree whose /proc, /sys and /etc are meant]:FOLDER:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'--shell[Hand commands to /bin/sh instead of starting their program]' \
'--same-body[Fail bodies that differ from the first one (the default)]' \
'(--no-keepalive)-k[Keep connections, as ab and weighttp say it (the default here)]' \
'(--no-keepalive)--keep-alive[Keep connections, as ab and weighttp say it (the default here)]' \
'--target-is-mine[Say that the target is yours to load, though a router leads to it; without this, a terminal is asked]' \
'--dry-run[Print the plan, with how long it may take, and do nothing]' \
'--json[Print the result as one JSON document]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'*::changes -- Settings and what B makes of them, as in net.core.somaxconn=4096; listener.backlog=N is that of the server'\''s own port:_default' \
&& ret=0
;;
(experiment)
_arguments "${_arguments_options[@]}" : \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
":: :_sysdyno__subcmd__experiment_commands" \
"*::: :->experiment" \
&& ret=0

    case $state in
    (experiment)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:sysdyno-experiment-command-$line[1]:"
        case $line[1] in
            (plan)
_arguments "${_arguments_options[@]}" : \
'--folder=[Folder in which the folder of this experiment is made \[default\: experiments, beside the runs\]]:FOLDER:_files' \
'--runs-dir=[Folder of the runs \[default\: ~/.local/state/sysdyno/runs\]]:FOLDER:_files' \
'--state-dir=[State folder; journals of settings lie in '\''tune'\'' below it, labs in '\''lab'\'' \[default\: /var/lib/sysdyno\]]:FOLDER:_files' \
'--root=[Tree whose /proc, /sys and /etc are meant]:FOLDER:_files' \
'--ssh-config=[Configuration for ssh \[default\: ssh'\''s own\]]:FILE:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'--quick[Measure the short version\: what the file'\''s \[quick\] table says]' \
'--server-sudo[Start the program on hosts behind ssh by \`sudo -n\`; labs need root there]' \
'--target-is-mine[Say that the target is yours to load, though a router leads to it; without this, a terminal is asked]' \
'--yes[Install packages that services of the file'\''s lab need without asking]' \
'--json[Print the result as one JSON document]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
':file -- File that says what is compared\: docs/formats/matrix.md:_files' \
&& ret=0
;;
(run)
_arguments "${_arguments_options[@]}" : \
'--folder=[Folder in which the folder of this experiment is made \[default\: experiments, beside the runs\]]:FOLDER:_files' \
'--runs-dir=[Folder of the runs \[default\: ~/.local/state/sysdyno/runs\]]:FOLDER:_files' \
'--state-dir=[State folder; journals of settings lie in '\''tune'\'' below it, labs in '\''lab'\'' \[default\: /var/lib/sysdyno\]]:FOLDER:_files' \
'--root=[Tree whose /proc, /sys and /etc are meant]:FOLDER:_files' \
'--ssh-config=[Configuration for ssh \[default\: ssh'\''s own\]]:FILE:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'--quick[Measure the short version\: what the file'\''s \[quick\] table says]' \
'--server-sudo[Start the program on hosts behind ssh by \`sudo -n\`; labs need root there]' \
'--target-is-mine[Say that the target is yours to load, though a router leads to it; without this, a terminal is asked]' \
'--yes[Install packages that services of the file'\''s lab need without asking]' \
'--json[Print the result as one JSON document]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
':file -- File that says what is compared\: docs/formats/matrix.md:_files' \
&& ret=0
;;
(resume)
_arguments "${_arguments_options[@]}" : \
'--state-dir=[State folder; journals of settings lie in '\''tune'\'' below it, labs in '\''lab'\'' \[default\: /var/lib/sysdyno\]]:FOLDER:_files' \
'--root=[Tree whose /proc, /sys and /etc are meant]:FOLDER:_files' \
'--ssh-config=[Configuration for ssh \[default\: ssh'\''s own\]]:FILE:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'--server-sudo[Start the program on hosts behind ssh by \`sudo -n\`; labs need root there]' \
'--target-is-mine[Say that the target is yours to load, though a router leads to it; without this, a terminal is asked]' \
'--yes[Install packages that services of the file'\''s lab need without asking]' \
'--json[Print the result as one JSON document]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
':folder -- Its folder:_files' \
&& ret=0
;;
(report)
_arguments "${_arguments_options[@]}" : \
'--state-dir=[State folder; journals of settings lie in '\''tune'\'' below it, labs in '\''lab'\'' \[default\: /var/lib/sysdyno\]]:FOLDER:_files' \
'--root=[Tree whose /proc, /sys and /etc are meant]:FOLDER:_files' \
'--ssh-config=[Configuration for ssh \[default\: ssh'\''s own\]]:FILE:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'--server-sudo[Start the program on hosts behind ssh by \`sudo -n\`; labs need root there]' \
'--target-is-mine[Say that the target is yours to load, though a router leads to it; without this, a terminal is asked]' \
'--yes[Install packages that services of the file'\''s lab need without asking]' \
'--json[Print the result as one JSON document]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
':folder -- Its folder:_files' \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_sysdyno__subcmd__experiment__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:sysdyno-experiment-help-command-$line[1]:"
        case $line[1] in
            (plan)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(run)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(resume)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(report)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
;;
(tune)
_arguments "${_arguments_options[@]}" : \
'--state-dir=[State folder; journals lie in '\''tune'\'' below it \[default\: /var/lib/sysdyno\]]:FOLDER:_files' \
'--root=[Tree whose /proc, /sys and /etc are meant]:FOLDER:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'--json[Print the result as one JSON document]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
":: :_sysdyno__subcmd__tune_commands" \
"*::: :->tune" \
&& ret=0

    case $state in
    (tune)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:sysdyno-tune-command-$line[1]:"
        case $line[1] in
            (list)
_arguments "${_arguments_options[@]}" : \
'--state-dir=[State folder; journals lie in '\''tune'\'' below it \[default\: /var/lib/sysdyno\]]:FOLDER:_files' \
'--root=[Tree whose /proc, /sys and /etc are meant]:FOLDER:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'()--all[All of them, not only those that matter most often]' \
'--json[Print the result as one JSON document]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'::part -- Only those whose name contains this:_default' \
&& ret=0
;;
(plan)
_arguments "${_arguments_options[@]}" : \
'--state-dir=[State folder; journals lie in '\''tune'\'' below it \[default\: /var/lib/sysdyno\]]:FOLDER:_files' \
'--root=[Tree whose /proc, /sys and /etc are meant]:FOLDER:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'--json[Print the result as one JSON document]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'*::changes -- Settings and what they should become, as in net.core.somaxconn=4096:_default' \
&& ret=0
;;
(apply)
_arguments "${_arguments_options[@]}" : \
'--for=[How long the trial lasts]:DURATION:_default' \
'--state-dir=[State folder; journals lie in '\''tune'\'' below it \[default\: /var/lib/sysdyno\]]:FOLDER:_files' \
'--root=[Tree whose /proc, /sys and /etc are meant]:FOLDER:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'--json[Print the result as one JSON document]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'*::changes -- Settings and what they should become, as in net.core.somaxconn=4096:_default' \
&& ret=0
;;
(commit)
_arguments "${_arguments_options[@]}" : \
'--state-dir=[State folder; journals lie in '\''tune'\'' below it \[default\: /var/lib/sysdyno\]]:FOLDER:_files' \
'--root=[Tree whose /proc, /sys and /etc are meant]:FOLDER:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'--json[Print the result as one JSON document]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'::id -- The trial, if another one is meant than that which is open:_default' \
&& ret=0
;;
(undo)
_arguments "${_arguments_options[@]}" : \
'--state-dir=[State folder; journals lie in '\''tune'\'' below it \[default\: /var/lib/sysdyno\]]:FOLDER:_files' \
'--root=[Tree whose /proc, /sys and /etc are meant]:FOLDER:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'--print-shell[Print lines of shell that undo it, and do nothing]' \
'--json[Print the result as one JSON document]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'::id -- The trial, if another one is meant than that which is open:_default' \
&& ret=0
;;
(status)
_arguments "${_arguments_options[@]}" : \
'--state-dir=[State folder; journals lie in '\''tune'\'' below it \[default\: /var/lib/sysdyno\]]:FOLDER:_files' \
'--root=[Tree whose /proc, /sys and /etc are meant]:FOLDER:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'--json[Print the result as one JSON document]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
&& ret=0
;;
(history)
_arguments "${_arguments_options[@]}" : \
'--state-dir=[State folder; journals lie in '\''tune'\'' below it \[default\: /var/lib/sysdyno\]]:FOLDER:_files' \
'--root=[Tree whose /proc, /sys and /etc are meant]:FOLDER:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'--json[Print the result as one JSON document]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
&& ret=0
;;
(persist)
_arguments "${_arguments_options[@]}" : \
'--state-dir=[State folder; journals lie in '\''tune'\'' below it \[default\: /var/lib/sysdyno\]]:FOLDER:_files' \
'--root=[Tree whose /proc, /sys and /etc are meant]:FOLDER:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'--remove[Take settings (KEY) out of the file again; without any, take the file away]' \
'--json[Print the result as one JSON document]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'*::settings -- Settings and what they should be after a reboot, as in net.core.somaxconn=4096:_default' \
&& ret=0
;;
(recover)
_arguments "${_arguments_options[@]}" : \
'--state-dir=[State folder; journals lie in '\''tune'\'' below it \[default\: /var/lib/sysdyno\]]:FOLDER:_files' \
'--root=[Tree whose /proc, /sys and /etc are meant]:FOLDER:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'--json[Print the result as one JSON document]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
&& ret=0
;;
(guard)
_arguments "${_arguments_options[@]}" : \
'--terminal=[Terminal on which the trial was made]:TERMINAL:_files' \
'--terminal-uid=[Whose terminal that was]:TERMINAL_UID:_default' \
'--state-dir=[State folder; journals lie in '\''tune'\'' below it \[default\: /var/lib/sysdyno\]]:FOLDER:_files' \
'--root=[Tree whose /proc, /sys and /etc are meant]:FOLDER:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'--json[Print the result as one JSON document]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
':id -- The trial:_default' \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_sysdyno__subcmd__tune__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:sysdyno-tune-help-command-$line[1]:"
        case $line[1] in
            (list)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(plan)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(apply)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(commit)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(undo)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(status)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(history)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(persist)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(recover)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(guard)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
;;
(lab)
_arguments "${_arguments_options[@]}" : \
'--state-dir=[State folder; labs lie in '\''lab'\'' below it \[default\: /var/lib/sysdyno\]]:FOLDER:_files' \
'--ssh-config=[Configuration for ssh \[default\: ssh'\''s own\]]:FILE:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'--server-sudo[Start the program on hosts behind ssh by \`sudo -n\`; labs need root there]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
":: :_sysdyno__subcmd__lab_commands" \
"*::: :->lab" \
&& ret=0

    case $state in
    (lab)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:sysdyno-lab-command-$line[1]:"
        case $line[1] in
            (up)
_arguments "${_arguments_options[@]}" : \
'--state-dir=[State folder; labs lie in '\''lab'\'' below it \[default\: /var/lib/sysdyno\]]:FOLDER:_files' \
'--ssh-config=[Configuration for ssh \[default\: ssh'\''s own\]]:FILE:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'--yes[Install packages that are missing without asking]' \
'--dry-run[Say what would be made and installed, and do nothing]' \
'--server-sudo[Start the program on hosts behind ssh by \`sudo -n\`; labs need root there]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'::file -- The file that says what the lab is:_files' \
&& ret=0
;;
(status)
_arguments "${_arguments_options[@]}" : \
'--state-dir=[State folder; labs lie in '\''lab'\'' below it \[default\: /var/lib/sysdyno\]]:FOLDER:_files' \
'--ssh-config=[Configuration for ssh \[default\: ssh'\''s own\]]:FILE:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'--json[Print the result as one JSON document]' \
'--server-sudo[Start the program on hosts behind ssh by \`sudo -n\`; labs need root there]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'::lab -- A lab by its name, or by its file \[default\: all labs\]:_default' \
&& ret=0
;;
(logs)
_arguments "${_arguments_options[@]}" : \
'--state-dir=[State folder; labs lie in '\''lab'\'' below it \[default\: /var/lib/sysdyno\]]:FOLDER:_files' \
'--ssh-config=[Configuration for ssh \[default\: ssh'\''s own\]]:FILE:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'--server-sudo[Start the program on hosts behind ssh by \`sudo -n\`; labs need root there]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
':lab -- A lab by its name, or by its file:_default' \
'::service -- Only this service:_default' \
&& ret=0
;;
(exec)
_arguments "${_arguments_options[@]}" : \
'--state-dir=[State folder; labs lie in '\''lab'\'' below it \[default\: /var/lib/sysdyno\]]:FOLDER:_files' \
'--ssh-config=[Configuration for ssh \[default\: ssh'\''s own\]]:FILE:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'--server-sudo[Start the program on hosts behind ssh by \`sudo -n\`; labs need root there]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
':lab -- A lab by its name, or by its file:_default' \
':host -- The host:_default' \
'*::command -- The command, behind '\''--'\'':_default' \
&& ret=0
;;
(reload)
_arguments "${_arguments_options[@]}" : \
'--state-dir=[State folder; labs lie in '\''lab'\'' below it \[default\: /var/lib/sysdyno\]]:FOLDER:_files' \
'--ssh-config=[Configuration for ssh \[default\: ssh'\''s own\]]:FILE:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'--server-sudo[Start the program on hosts behind ssh by \`sudo -n\`; labs need root there]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
':lab -- A lab by its name, or by its file:_default' \
':service -- The service:_default' \
&& ret=0
;;
(down)
_arguments "${_arguments_options[@]}" : \
'--state-dir=[State folder; labs lie in '\''lab'\'' below it \[default\: /var/lib/sysdyno\]]:FOLDER:_files' \
'--ssh-config=[Configuration for ssh \[default\: ssh'\''s own\]]:FILE:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'()--all[Take all labs away]' \
'--server-sudo[Start the program on hosts behind ssh by \`sudo -n\`; labs need root there]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'::lab -- A lab by its name, or by its file:_default' \
&& ret=0
;;
(recipes)
_arguments "${_arguments_options[@]}" : \
'--state-dir=[State folder; labs lie in '\''lab'\'' below it \[default\: /var/lib/sysdyno\]]:FOLDER:_files' \
'--ssh-config=[Configuration for ssh \[default\: ssh'\''s own\]]:FILE:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'--server-sudo[Start the program on hosts behind ssh by \`sudo -n\`; labs need root there]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'::recipe -- A recipe:_default' \
&& ret=0
;;
(keep)
_arguments "${_arguments_options[@]}" : \
'--state-dir=[State folder; labs lie in '\''lab'\'' below it \[default\: /var/lib/sysdyno\]]:FOLDER:_files' \
'--ssh-config=[Configuration for ssh \[default\: ssh'\''s own\]]:FILE:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'--server-sudo[Start the program on hosts behind ssh by \`sudo -n\`; labs need root there]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
&& ret=0
;;
(relay)
_arguments "${_arguments_options[@]}" : \
'--state-dir=[State folder; labs lie in '\''lab'\'' below it \[default\: /var/lib/sysdyno\]]:FOLDER:_files' \
'--ssh-config=[Configuration for ssh \[default\: ssh'\''s own\]]:FILE:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'--server-sudo[Start the program on hosts behind ssh by \`sudo -n\`; labs need root there]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
':order -- What to do, as `lab up` says it:_default' \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_sysdyno__subcmd__lab__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:sysdyno-lab-help-command-$line[1]:"
        case $line[1] in
            (up)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(status)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(logs)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(exec)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(reload)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(down)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(recipes)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(keep)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(relay)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
;;
(probe)
_arguments "${_arguments_options[@]}" : \
'-k+[The operation, instead of the one that the target'\''s form stands for]:KIND:((http\:"A request on a kept connection"
tcp\:"A connection, made and closed"
icmp\:"An ICMP echo, as of ping"))' \
'--kind=[The operation, instead of the one that the target'\''s form stands for]:KIND:((http\:"A request on a kept connection"
tcp\:"A connection, made and closed"
icmp\:"An ICMP echo, as of ping"))' \
'-c+[End after so many operations \[default\: go on until Ctrl-C\]]:N:_default' \
'--count=[End after so many operations \[default\: go on until Ctrl-C\]]:N:_default' \
'-d+[End after this time]:DURATION:_default' \
'--duration=[End after this time]:DURATION:_default' \
'-i+[Time between two operations; at least 10ms, to a public address 100ms \[default\: 1s\]]:DURATION:_default' \
'--interval=[Time between two operations; at least 10ms, to a public address 100ms \[default\: 1s\]]:DURATION:_default' \
'-W+[Give an operation up this long after its intended send \[default\: 5s\]]:DURATION:_default' \
'--timeout=[Give an operation up this long after its intended send \[default\: 5s\]]:DURATION:_default' \
'--log=[Also write the lines into this file]:FILE:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'--target-is-mine[Say that the target is yours to load, though a router leads to it; without this, a terminal is asked]' \
'--json[Print no lines, and the result as one JSON document]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
':target -- What is probed\: HOST (ICMP), HOST\:PORT (TCP), http\://HOST\[\:PORT\]/PATH or unix\:SOCKET\[\:/PATH\] (HTTP):_default' \
&& ret=0
;;
(compare)
_arguments "${_arguments_options[@]}" : \
'--effect=[The smallest effect that matters \[default\: that of each metric, see docs/compare.md\]]:PERCENT:_default' \
'*--metric=[Only this metric (capacity, goodput, p99, p90, p50 or cpu); several times for several, the first one decides]:METRIC:_default' \
'*--allow=[Compare although this gate refuses (its name or number, see docs/compare.md); several times for several]:GATE:_default' \
'--fail-if=[End with exit code 1 if a side differs from the first in this way]:WORD:((worse\:"Some metric of a side is worse"
different\:"Some metric of a side is better or worse"))' \
'--workload=[What the hosts are for, which ranks what differs between them]:WORKLOAD:((web\:"Many connections and short requests"
files\:"Many files made, changed and removed"
memory\:"Data that lie in memory"
any\:"Any of these"))' \
'--report=[Write the page here \[default\: compare-A-B.html in the folder of the runs\]]:FILE:_files' \
'--runs-dir=[Folder of the runs \[default\: ~/.local/state/sysdyno/runs\]]:FOLDER:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'()--trend[Look at the runs as a series in time, all of them if none is named, and find where the level changed]' \
'(--report)--no-report[Write no page]' \
'--json[Print the result as one JSON document]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'*::runs -- Runs\: a folder, a name, or the end of a name; or a folder that holds runs, which then are repetitions of each other. Each is a side, the first is what the others are compared with:_files' \
&& ret=0
;;
(facts)
_arguments "${_arguments_options[@]}" : \
'--workload=[What the hosts are for, which decides what matters first]:WORKLOAD:((web\:"Many connections and short requests"
files\:"Many files made, changed and removed"
memory\:"Data that lie in memory"
any\:"Any of these"))' \
'--only=[Only facts of these names; * stands for any characters, as in '\''sysctl.net.*'\'']:GLOB:_default' \
'-o+[Save the facts as JSON here, to compare them later or elsewhere]:FILE:_files' \
'--output=[Save the facts as JSON here, to compare them later or elsewhere]:FILE:_files' \
'--runs-dir=[Folder of the runs \[default\: ~/.local/state/sysdyno/runs\]]:FOLDER:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'--all[Print everything, not only what fits a screen]' \
'--fail-if-different[End with exit code 1 if the two hosts differ]' \
'--json[Print one JSON document]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'*::hosts -- This host (localhost), a run (its folder, its name, or the end of its name), or a file that -o saved; of two, say what differs \[default\: localhost\]:_files' \
&& ret=0
;;
(runs)
_arguments "${_arguments_options[@]}" : \
'--sort=[What comes first\: the newest, the greatest rate, the least p99, or the worst verdict]:SORT:((time\:"The newest"
rate\:"The greatest rate"
p99\:"The least 99th percentile"
verdict\:"The worst verdict"))' \
'--kind=[Only runs of this command]:KIND:((run\:"Searches for the capacity"
load\:"Loads"
demo\:"Demonstrations"
try\:"Experiments"))' \
'--verdict=[Only runs with this verdict]:VERDICT:((valid\:"The numbers may be trusted"
suspect\:"They may be skewed"
invalid\:"They must not be taken for the server'\''s"
better\:"B is better"
worse\:"B is worse"))' \
'--contains=[Only runs with this in their name, their command line, or what stopped them]:TEXT:_default' \
'-n+[At most so many]:N:_default' \
'--limit=[At most so many]:N:_default' \
'--runs-dir=[Folder of the runs \[default\: ~/.local/state/sysdyno/runs\]]:FOLDER:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'--json[Print one JSON document]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
":: :_sysdyno__subcmd__runs_commands" \
"*::: :->runs" \
&& ret=0

    case $state in
    (runs)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:sysdyno-runs-command-$line[1]:"
        case $line[1] in
            (rm)
_arguments "${_arguments_options[@]}" : \
'--runs-dir=[Folder of the runs \[default\: ~/.local/state/sysdyno/runs\]]:FOLDER:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'*::runs -- The runs\: their folders, their names, or the ends of their names:_files' \
&& ret=0
;;
(prune)
_arguments "${_arguments_options[@]}" : \
'--keep=[How many stay]:N:_default' \
'--runs-dir=[Folder of the runs \[default\: ~/.local/state/sysdyno/runs\]]:FOLDER:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'--dry-run[Only say which would be removed]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_sysdyno__subcmd__runs__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:sysdyno-runs-help-command-$line[1]:"
        case $line[1] in
            (rm)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(prune)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
;;
(show)
_arguments "${_arguments_options[@]}" : \
'--runs-dir=[Folder of the runs \[default\: ~/.local/state/sysdyno/runs\]]:FOLDER:_files' \
'(--json)--output=[Form of the result \[default\: text\]]:FORM:((text\:"One screen for people"
json\:"One JSON document"
csv\:"One header, and a line for each measured phase"
hdr\:"The percentile text of HdrHistogram, for its plotters"
ab\:"The text of ApacheBench, for scripts that read it"))' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'--json[Print the result as one JSON document, as --output json]' \
'--verify[Also compare every file with its digest]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'::run -- The run\: its folder, its name, or the end of its name; the newest if left out:_files' \
&& ret=0
;;
(report)
_arguments "${_arguments_options[@]}" : \
'--runs-dir=[Folder of the runs \[default\: ~/.local/state/sysdyno/runs\]]:FOLDER:_files' \
'-o+[Write the report here instead of into the run'\''s folder]:FILE:_files' \
'--output=[Write the report here instead of into the run'\''s folder]:FILE:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'::run -- The run\: its folder, its name, or the end of its name; the newest if left out:_files' \
&& ret=0
;;
(completions)
_arguments "${_arguments_options[@]}" : \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
':shell -- The shell:(bash elvish fish powershell zsh)' \
&& ret=0
;;
(docs)
_arguments "${_arguments_options[@]}" : \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
':folder -- The folder, made if it is missing:_files' \
&& ret=0
;;
(agent)
_arguments "${_arguments_options[@]}" : \
'--netns=[Enter this network namespace first]:FILE:_files' \
'--state-dir=[State folder of this host; shares of labs lie in '\''lab'\'' below it \[default\: /var/lib/sysdyno\]]:FOLDER:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'--stdio[Serve requests on the standard input until it ends]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
&& ret=0
;;
(target)
_arguments "${_arguments_options[@]}" : \
'--listen=[Where to listen]:LISTEN:_default' \
'--threads=[Threads that serve]:THREADS:_default' \
'--body-bytes=[Length of each response'\''s body. Unit\: bytes]:BODY_BYTES:_default' \
'--workers=[A pool of so many workers, each of which holds a request for --hold-ms]:WORKERS:_default' \
'--hold-ms=[How long a worker holds a request. Unit\: milliseconds]:HOLD_MS:_default' \
'--work-us=[One thread that works this long on each request. Unit\: microseconds]:WORK_US:_default' \
'--backlog=[An accept queue of this length, from which one connection is taken every --accept-delay-ms]:BACKLOG:_default' \
'--accept-delay-ms=[Time between two accepts. Unit\: milliseconds]:ACCEPT_DELAY_MS:_default' \
'--stall-every-ms=[The server answers nothing for --stall-for-ms every so often. Unit\: milliseconds]:STALL_EVERY_MS:_default' \
'--stall-for-ms=[Length of a stall. Unit\: milliseconds]:STALL_FOR_MS:_default' \
'*--delays-us=[Each response is delayed by the next of these, in turn. Unit\: microseconds]:DELAYS_US:_default' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set"
always\:"Always"
never\:"Never"))' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_sysdyno__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:sysdyno-help-command-$line[1]:"
        case $line[1] in
            (demo)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(run)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(load)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(try)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(experiment)
_arguments "${_arguments_options[@]}" : \
":: :_sysdyno__subcmd__help__subcmd__experiment_commands" \
"*::: :->experiment" \
&& ret=0

    case $state in
    (experiment)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:sysdyno-help-experiment-command-$line[1]:"
        case $line[1] in
            (plan)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(run)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(resume)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(report)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
(tune)
_arguments "${_arguments_options[@]}" : \
":: :_sysdyno__subcmd__help__subcmd__tune_commands" \
"*::: :->tune" \
&& ret=0

    case $state in
    (tune)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:sysdyno-help-tune-command-$line[1]:"
        case $line[1] in
            (list)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(plan)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(apply)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(commit)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(undo)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(status)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(history)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(persist)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(recover)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(guard)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
(lab)
_arguments "${_arguments_options[@]}" : \
":: :_sysdyno__subcmd__help__subcmd__lab_commands" \
"*::: :->lab" \
&& ret=0

    case $state in
    (lab)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:sysdyno-help-lab-command-$line[1]:"
        case $line[1] in
            (up)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(status)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(logs)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(exec)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(reload)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(down)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(recipes)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(keep)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(relay)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
(probe)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(compare)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(facts)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(runs)
_arguments "${_arguments_options[@]}" : \
":: :_sysdyno__subcmd__help__subcmd__runs_commands" \
"*::: :->runs" \
&& ret=0

    case $state in
    (runs)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:sysdyno-help-runs-command-$line[1]:"
        case $line[1] in
            (rm)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(prune)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
(show)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(report)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(completions)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(docs)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(agent)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(target)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
}

(( $+functions[_sysdyno_commands] )) ||
_sysdyno_commands() {
    local commands; commands=(
'demo:Run the whole loop against a built-in server with a planted bottleneck, in a minute and a half' \
'run:Find the capacity of a server under a latency objective, and what limits it' \
'load:Drive load at a server and report what came back' \
'try:Try one reversible change on a live server, and say whether it helped' \
'experiment:Measure every combination of some factors, in blocks, and say which differ' \
'tune:Change settings of this host so that they can always be put back' \
'lab:Put up hosts, links and real services on this machine, and take them away again' \
'probe:Measure what an outsider waits, operation by operation\: HTTP, TCP or ICMP' \
'compare:Compare runs\: whether they may be compared, what differs, by how much' \
'facts:Say what this host is, or what differs between two hosts' \
'runs:List the runs that were recorded' \
'show:Print a recorded run again' \
'report:Make the HTML report of a recorded run again' \
'completions:Print completions for a shell' \
'docs:Write manual pages, completions and the command reference into a folder' \
'agent:Serve requests to read this host; what \`--server\` starts there' \
'target:Serve the built-in target until standard input ends' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'sysdyno commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__agent_commands] )) ||
_sysdyno__subcmd__agent_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno agent commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__compare_commands] )) ||
_sysdyno__subcmd__compare_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno compare commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__completions_commands] )) ||
_sysdyno__subcmd__completions_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno completions commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__demo_commands] )) ||
_sysdyno__subcmd__demo_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno demo commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__docs_commands] )) ||
_sysdyno__subcmd__docs_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno docs commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__experiment_commands] )) ||
_sysdyno__subcmd__experiment_commands() {
    local commands; commands=(
'plan:Say what would be measured, in which order and how long it takes, and do nothing' \
'run:Measure every combination, block by block' \
'resume:Measure what is missing in a folder' \
'report:Compare what a folder holds, and make its report again' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'sysdyno experiment commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__experiment__subcmd__help_commands] )) ||
_sysdyno__subcmd__experiment__subcmd__help_commands() {
    local commands; commands=(
'plan:Say what would be measured, in which order and how long it takes, and do nothing' \
'run:Measure every combination, block by block' \
'resume:Measure what is missing in a folder' \
'report:Compare what a folder holds, and make its report again' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'sysdyno experiment help commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__experiment__subcmd__help__subcmd__help_commands] )) ||
_sysdyno__subcmd__experiment__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno experiment help help commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__experiment__subcmd__help__subcmd__plan_commands] )) ||
_sysdyno__subcmd__experiment__subcmd__help__subcmd__plan_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno experiment help plan commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__experiment__subcmd__help__subcmd__report_commands] )) ||
_sysdyno__subcmd__experiment__subcmd__help__subcmd__report_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno experiment help report commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__experiment__subcmd__help__subcmd__resume_commands] )) ||
_sysdyno__subcmd__experiment__subcmd__help__subcmd__resume_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno experiment help resume commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__experiment__subcmd__help__subcmd__run_commands] )) ||
_sysdyno__subcmd__experiment__subcmd__help__subcmd__run_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno experiment help run commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__experiment__subcmd__plan_commands] )) ||
_sysdyno__subcmd__experiment__subcmd__plan_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno experiment plan commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__experiment__subcmd__report_commands] )) ||
_sysdyno__subcmd__experiment__subcmd__report_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno experiment report commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__experiment__subcmd__resume_commands] )) ||
_sysdyno__subcmd__experiment__subcmd__resume_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno experiment resume commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__experiment__subcmd__run_commands] )) ||
_sysdyno__subcmd__experiment__subcmd__run_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno experiment run commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__facts_commands] )) ||
_sysdyno__subcmd__facts_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno facts commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help_commands] )) ||
_sysdyno__subcmd__help_commands() {
    local commands; commands=(
'demo:Run the whole loop against a built-in server with a planted bottleneck, in a minute and a half' \
'run:Find the capacity of a server under a latency objective, and what limits it' \
'load:Drive load at a server and report what came back' \
'try:Try one reversible change on a live server, and say whether it helped' \
'experiment:Measure every combination of some factors, in blocks, and say which differ' \
'tune:Change settings of this host so that they can always be put back' \
'lab:Put up hosts, links and real services on this machine, and take them away again' \
'probe:Measure what an outsider waits, operation by operation\: HTTP, TCP or ICMP' \
'compare:Compare runs\: whether they may be compared, what differs, by how much' \
'facts:Say what this host is, or what differs between two hosts' \
'runs:List the runs that were recorded' \
'show:Print a recorded run again' \
'report:Make the HTML report of a recorded run again' \
'completions:Print completions for a shell' \
'docs:Write manual pages, completions and the command reference into a folder' \
'agent:Serve requests to read this host; what \`--server\` starts there' \
'target:Serve the built-in target until standard input ends' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'sysdyno help commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__agent_commands] )) ||
_sysdyno__subcmd__help__subcmd__agent_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help agent commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__compare_commands] )) ||
_sysdyno__subcmd__help__subcmd__compare_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help compare commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__completions_commands] )) ||
_sysdyno__subcmd__help__subcmd__completions_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help completions commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__demo_commands] )) ||
_sysdyno__subcmd__help__subcmd__demo_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help demo commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__docs_commands] )) ||
_sysdyno__subcmd__help__subcmd__docs_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help docs commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__experiment_commands] )) ||
_sysdyno__subcmd__help__subcmd__experiment_commands() {
    local commands; commands=(
'plan:Say what would be measured, in which order and how long it takes, and do nothing' \
'run:Measure every combination, block by block' \
'resume:Measure what is missing in a folder' \
'report:Compare what a folder holds, and make its report again' \
    )
    _describe -t commands 'sysdyno help experiment commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__experiment__subcmd__plan_commands] )) ||
_sysdyno__subcmd__help__subcmd__experiment__subcmd__plan_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help experiment plan commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__experiment__subcmd__report_commands] )) ||
_sysdyno__subcmd__help__subcmd__experiment__subcmd__report_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help experiment report commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__experiment__subcmd__resume_commands] )) ||
_sysdyno__subcmd__help__subcmd__experiment__subcmd__resume_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help experiment resume commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__experiment__subcmd__run_commands] )) ||
_sysdyno__subcmd__help__subcmd__experiment__subcmd__run_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help experiment run commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__facts_commands] )) ||
_sysdyno__subcmd__help__subcmd__facts_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help facts commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__help_commands] )) ||
_sysdyno__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help help commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__lab_commands] )) ||
_sysdyno__subcmd__help__subcmd__lab_commands() {
    local commands; commands=(
'up:Put a lab up\: its namespaces, links, shares on hosts behind ssh, and services, in this order; needs root' \
'status:Say what a lab is now, whether its services are well, and where they are; exit code 1 if one is not' \
'logs:Print what services have printed' \
'exec:Run a command on a host, in its namespace or by ssh; its exit code is that of this command' \
'reload:Have a service read its files again' \
'down:Take a lab away, however far it was made\: processes, namespaces, links, files, here and on hosts behind ssh' \
'recipes:List the services that are known, or the parameters of one' \
'keep:Keep a service' \
'relay:Forward frames between both ends of a link' \
    )
    _describe -t commands 'sysdyno help lab commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__lab__subcmd__down_commands] )) ||
_sysdyno__subcmd__help__subcmd__lab__subcmd__down_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help lab down commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__lab__subcmd__exec_commands] )) ||
_sysdyno__subcmd__help__subcmd__lab__subcmd__exec_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help lab exec commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__lab__subcmd__keep_commands] )) ||
_sysdyno__subcmd__help__subcmd__lab__subcmd__keep_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help lab keep commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__lab__subcmd__logs_commands] )) ||
_sysdyno__subcmd__help__subcmd__lab__subcmd__logs_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help lab logs commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__lab__subcmd__recipes_commands] )) ||
_sysdyno__subcmd__help__subcmd__lab__subcmd__recipes_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help lab recipes commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__lab__subcmd__relay_commands] )) ||
_sysdyno__subcmd__help__subcmd__lab__subcmd__relay_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help lab relay commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__lab__subcmd__reload_commands] )) ||
_sysdyno__subcmd__help__subcmd__lab__subcmd__reload_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help lab reload commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__lab__subcmd__status_commands] )) ||
_sysdyno__subcmd__help__subcmd__lab__subcmd__status_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help lab status commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__lab__subcmd__up_commands] )) ||
_sysdyno__subcmd__help__subcmd__lab__subcmd__up_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help lab up commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__load_commands] )) ||
_sysdyno__subcmd__help__subcmd__load_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help load commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__probe_commands] )) ||
_sysdyno__subcmd__help__subcmd__probe_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help probe commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__report_commands] )) ||
_sysdyno__subcmd__help__subcmd__report_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help report commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__run_commands] )) ||
_sysdyno__subcmd__help__subcmd__run_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help run commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__runs_commands] )) ||
_sysdyno__subcmd__help__subcmd__runs_commands() {
    local commands; commands=(
'rm:Remove runs' \
'prune:Remove all runs but the newest' \
    )
    _describe -t commands 'sysdyno help runs commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__runs__subcmd__prune_commands] )) ||
_sysdyno__subcmd__help__subcmd__runs__subcmd__prune_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help runs prune commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__runs__subcmd__rm_commands] )) ||
_sysdyno__subcmd__help__subcmd__runs__subcmd__rm_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help runs rm commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__show_commands] )) ||
_sysdyno__subcmd__help__subcmd__show_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help show commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__target_commands] )) ||
_sysdyno__subcmd__help__subcmd__target_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help target commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__try_commands] )) ||
_sysdyno__subcmd__help__subcmd__try_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help try commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__tune_commands] )) ||
_sysdyno__subcmd__help__subcmd__tune_commands() {
    local commands; commands=(
'list:List the settings that can be changed, and what they do' \
'plan:Say what changes would write, what undoes them, and who else sets the same; needs no rights' \
'apply:Make changes as a trial, which is undone at its deadline unless it is committed' \
'commit:Keep what is being tried, until the next boot' \
'undo:Undo what is being tried, or what was committed' \
'status:Say what is being tried, by when it is undone, and what its settings are now' \
'history:List the trials that are over' \
'persist:Keep settings over a reboot, in a file of our own; what is in force is not touched' \
'recover:Undo what was left behind by a trial whose guardian is dead' \
'guard:Watch over a trial' \
    )
    _describe -t commands 'sysdyno help tune commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__tune__subcmd__apply_commands] )) ||
_sysdyno__subcmd__help__subcmd__tune__subcmd__apply_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help tune apply commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__tune__subcmd__commit_commands] )) ||
_sysdyno__subcmd__help__subcmd__tune__subcmd__commit_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help tune commit commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__tune__subcmd__guard_commands] )) ||
_sysdyno__subcmd__help__subcmd__tune__subcmd__guard_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help tune guard commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__tune__subcmd__history_commands] )) ||
_sysdyno__subcmd__help__subcmd__tune__subcmd__history_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help tune history commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__tune__subcmd__list_commands] )) ||
_sysdyno__subcmd__help__subcmd__tune__subcmd__list_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help tune list commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__tune__subcmd__persist_commands] )) ||
_sysdyno__subcmd__help__subcmd__tune__subcmd__persist_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help tune persist commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__tune__subcmd__plan_commands] )) ||
_sysdyno__subcmd__help__subcmd__tune__subcmd__plan_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help tune plan commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__tune__subcmd__recover_commands] )) ||
_sysdyno__subcmd__help__subcmd__tune__subcmd__recover_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help tune recover commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__tune__subcmd__status_commands] )) ||
_sysdyno__subcmd__help__subcmd__tune__subcmd__status_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help tune status commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__help__subcmd__tune__subcmd__undo_commands] )) ||
_sysdyno__subcmd__help__subcmd__tune__subcmd__undo_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno help tune undo commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__lab_commands] )) ||
_sysdyno__subcmd__lab_commands() {
    local commands; commands=(
'up:Put a lab up\: its namespaces, links, shares on hosts behind ssh, and services, in this order; needs root' \
'status:Say what a lab is now, whether its services are well, and where they are; exit code 1 if one is not' \
'logs:Print what services have printed' \
'exec:Run a command on a host, in its namespace or by ssh; its exit code is that of this command' \
'reload:Have a service read its files again' \
'down:Take a lab away, however far it was made\: processes, namespaces, links, files, here and on hosts behind ssh' \
'recipes:List the services that are known, or the parameters of one' \
'keep:Keep a service' \
'relay:Forward frames between both ends of a link' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'sysdyno lab commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__lab__subcmd__down_commands] )) ||
_sysdyno__subcmd__lab__subcmd__down_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno lab down commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__lab__subcmd__exec_commands] )) ||
_sysdyno__subcmd__lab__subcmd__exec_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno lab exec commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__lab__subcmd__help_commands] )) ||
_sysdyno__subcmd__lab__subcmd__help_commands() {
    local commands; commands=(
'up:Put a lab up\: its namespaces, links, shares on hosts behind ssh, and services, in this order; needs root' \
'status:Say what a lab is now, whether its services are well, and where they are; exit code 1 if one is not' \
'logs:Print what services have printed' \
'exec:Run a command on a host, in its namespace or by ssh; its exit code is that of this command' \
'reload:Have a service read its files again' \
'down:Take a lab away, however far it was made\: processes, namespaces, links, files, here and on hosts behind ssh' \
'recipes:List the services that are known, or the parameters of one' \
'keep:Keep a service' \
'relay:Forward frames between both ends of a link' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'sysdyno lab help commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__lab__subcmd__help__subcmd__down_commands] )) ||
_sysdyno__subcmd__lab__subcmd__help__subcmd__down_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno lab help down commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__lab__subcmd__help__subcmd__exec_commands] )) ||
_sysdyno__subcmd__lab__subcmd__help__subcmd__exec_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno lab help exec commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__lab__subcmd__help__subcmd__help_commands] )) ||
_sysdyno__subcmd__lab__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno lab help help commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__lab__subcmd__help__subcmd__keep_commands] )) ||
_sysdyno__subcmd__lab__subcmd__help__subcmd__keep_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno lab help keep commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__lab__subcmd__help__subcmd__logs_commands] )) ||
_sysdyno__subcmd__lab__subcmd__help__subcmd__logs_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno lab help logs commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__lab__subcmd__help__subcmd__recipes_commands] )) ||
_sysdyno__subcmd__lab__subcmd__help__subcmd__recipes_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno lab help recipes commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__lab__subcmd__help__subcmd__relay_commands] )) ||
_sysdyno__subcmd__lab__subcmd__help__subcmd__relay_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno lab help relay commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__lab__subcmd__help__subcmd__reload_commands] )) ||
_sysdyno__subcmd__lab__subcmd__help__subcmd__reload_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno lab help reload commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__lab__subcmd__help__subcmd__status_commands] )) ||
_sysdyno__subcmd__lab__subcmd__help__subcmd__status_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno lab help status commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__lab__subcmd__help__subcmd__up_commands] )) ||
_sysdyno__subcmd__lab__subcmd__help__subcmd__up_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno lab help up commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__lab__subcmd__keep_commands] )) ||
_sysdyno__subcmd__lab__subcmd__keep_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno lab keep commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__lab__subcmd__logs_commands] )) ||
_sysdyno__subcmd__lab__subcmd__logs_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno lab logs commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__lab__subcmd__recipes_commands] )) ||
_sysdyno__subcmd__lab__subcmd__recipes_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno lab recipes commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__lab__subcmd__relay_commands] )) ||
_sysdyno__subcmd__lab__subcmd__relay_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno lab relay commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__lab__subcmd__reload_commands] )) ||
_sysdyno__subcmd__lab__subcmd__reload_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno lab reload commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__lab__subcmd__status_commands] )) ||
_sysdyno__subcmd__lab__subcmd__status_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno lab status commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__lab__subcmd__up_commands] )) ||
_sysdyno__subcmd__lab__subcmd__up_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno lab up commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__load_commands] )) ||
_sysdyno__subcmd__load_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno load commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__probe_commands] )) ||
_sysdyno__subcmd__probe_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno probe commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__report_commands] )) ||
_sysdyno__subcmd__report_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno report commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__run_commands] )) ||
_sysdyno__subcmd__run_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno run commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__runs_commands] )) ||
_sysdyno__subcmd__runs_commands() {
    local commands; commands=(
'rm:Remove runs' \
'prune:Remove all runs but the newest' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'sysdyno runs commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__runs__subcmd__help_commands] )) ||
_sysdyno__subcmd__runs__subcmd__help_commands() {
    local commands; commands=(
'rm:Remove runs' \
'prune:Remove all runs but the newest' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'sysdyno runs help commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__runs__subcmd__help__subcmd__help_commands] )) ||
_sysdyno__subcmd__runs__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno runs help help commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__runs__subcmd__help__subcmd__prune_commands] )) ||
_sysdyno__subcmd__runs__subcmd__help__subcmd__prune_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno runs help prune commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__runs__subcmd__help__subcmd__rm_commands] )) ||
_sysdyno__subcmd__runs__subcmd__help__subcmd__rm_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno runs help rm commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__runs__subcmd__prune_commands] )) ||
_sysdyno__subcmd__runs__subcmd__prune_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno runs prune commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__runs__subcmd__rm_commands] )) ||
_sysdyno__subcmd__runs__subcmd__rm_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno runs rm commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__show_commands] )) ||
_sysdyno__subcmd__show_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno show commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__target_commands] )) ||
_sysdyno__subcmd__target_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno target commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__try_commands] )) ||
_sysdyno__subcmd__try_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno try commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__tune_commands] )) ||
_sysdyno__subcmd__tune_commands() {
    local commands; commands=(
'list:List the settings that can be changed, and what they do' \
'plan:Say what changes would write, what undoes them, and who else sets the same; needs no rights' \
'apply:Make changes as a trial, which is undone at its deadline unless it is committed' \
'commit:Keep what is being tried, until the next boot' \
'undo:Undo what is being tried, or what was committed' \
'status:Say what is being tried, by when it is undone, and what its settings are now' \
'history:List the trials that are over' \
'persist:Keep settings over a reboot, in a file of our own; what is in force is not touched' \
'recover:Undo what was left behind by a trial whose guardian is dead' \
'guard:Watch over a trial' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'sysdyno tune commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__tune__subcmd__apply_commands] )) ||
_sysdyno__subcmd__tune__subcmd__apply_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno tune apply commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__tune__subcmd__commit_commands] )) ||
_sysdyno__subcmd__tune__subcmd__commit_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno tune commit commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__tune__subcmd__guard_commands] )) ||
_sysdyno__subcmd__tune__subcmd__guard_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno tune guard commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__tune__subcmd__help_commands] )) ||
_sysdyno__subcmd__tune__subcmd__help_commands() {
    local commands; commands=(
'list:List the settings that can be changed, and what they do' \
'plan:Say what changes would write, what undoes them, and who else sets the same; needs no rights' \
'apply:Make changes as a trial, which is undone at its deadline unless it is committed' \
'commit:Keep what is being tried, until the next boot' \
'undo:Undo what is being tried, or what was committed' \
'status:Say what is being tried, by when it is undone, and what its settings are now' \
'history:List the trials that are over' \
'persist:Keep settings over a reboot, in a file of our own; what is in force is not touched' \
'recover:Undo what was left behind by a trial whose guardian is dead' \
'guard:Watch over a trial' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'sysdyno tune help commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__tune__subcmd__help__subcmd__apply_commands] )) ||
_sysdyno__subcmd__tune__subcmd__help__subcmd__apply_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno tune help apply commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__tune__subcmd__help__subcmd__commit_commands] )) ||
_sysdyno__subcmd__tune__subcmd__help__subcmd__commit_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno tune help commit commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__tune__subcmd__help__subcmd__guard_commands] )) ||
_sysdyno__subcmd__tune__subcmd__help__subcmd__guard_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno tune help guard commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__tune__subcmd__help__subcmd__help_commands] )) ||
_sysdyno__subcmd__tune__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno tune help help commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__tune__subcmd__help__subcmd__history_commands] )) ||
_sysdyno__subcmd__tune__subcmd__help__subcmd__history_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno tune help history commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__tune__subcmd__help__subcmd__list_commands] )) ||
_sysdyno__subcmd__tune__subcmd__help__subcmd__list_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno tune help list commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__tune__subcmd__help__subcmd__persist_commands] )) ||
_sysdyno__subcmd__tune__subcmd__help__subcmd__persist_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno tune help persist commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__tune__subcmd__help__subcmd__plan_commands] )) ||
_sysdyno__subcmd__tune__subcmd__help__subcmd__plan_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno tune help plan commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__tune__subcmd__help__subcmd__recover_commands] )) ||
_sysdyno__subcmd__tune__subcmd__help__subcmd__recover_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno tune help recover commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__tune__subcmd__help__subcmd__status_commands] )) ||
_sysdyno__subcmd__tune__subcmd__help__subcmd__status_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno tune help status commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__tune__subcmd__help__subcmd__undo_commands] )) ||
_sysdyno__subcmd__tune__subcmd__help__subcmd__undo_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno tune help undo commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__tune__subcmd__history_commands] )) ||
_sysdyno__subcmd__tune__subcmd__history_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno tune history commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__tune__subcmd__list_commands] )) ||
_sysdyno__subcmd__tune__subcmd__list_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno tune list commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__tune__subcmd__persist_commands] )) ||
_sysdyno__subcmd__tune__subcmd__persist_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno tune persist commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__tune__subcmd__plan_commands] )) ||
_sysdyno__subcmd__tune__subcmd__plan_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno tune plan commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__tune__subcmd__recover_commands] )) ||
_sysdyno__subcmd__tune__subcmd__recover_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno tune recover commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__tune__subcmd__status_commands] )) ||
_sysdyno__subcmd__tune__subcmd__status_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno tune status commands' commands "$@"
}
(( $+functions[_sysdyno__subcmd__tune__subcmd__undo_commands] )) ||
_sysdyno__subcmd__tune__subcmd__undo_commands() {
    local commands; commands=()
    _describe -t commands 'sysdyno tune undo commands' commands "$@"
}

if [ "$funcstack[1]" = "_sysdyno" ]; then
    _sysdyno "$@"
else
    compdef _sysdyno sysdyno
fi
