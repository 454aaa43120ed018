# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_sysdyno_global_optspecs
    string join \n color= h/help V/version
end

function __fish_sysdyno_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_sysdyno_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_sysdyno_using_subcommand
    set -l cmd (__fish_sysdyno_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c sysdyno -n "__fish_sysdyno_needs_command" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_needs_command" -s V -l version -d 'Print version'
complete -c sysdyno -n "__fish_sysdyno_needs_command" -f -a "demo" -d 'Run the whole loop against a built-in server with a planted bottleneck, in a minute and a half'
complete -c sysdyno -n "__fish_sysdyno_needs_command" -f -a "run" -d 'Find the capacity of a server under a latency objective, and what limits it'
complete -c sysdyno -n "__fish_sysdyno_needs_command" -f -a "load" -d 'Drive load at a server and report what came back'
complete -c sysdyno -n "__fish_sysdyno_needs_command" -f -a "try" -d 'Try one reversible change on a live server, and say whether it helped'
complete -c sysdyno -n "__fish_sysdyno_needs_command" -f -a "experiment" -d 'Measure every combination of some factors, in blocks, and say which differ'
complete -c sysdyno -n "__fish_sysdyno_needs_command" -f -a "tune" -d 'Change settings of this host so that they can always be put back'
complete -c sysdyno -n "__fish_sysdyno_needs_command" -f -a "lab" -d 'Put up hosts, links and real services on this machine, and take them away again'
complete -c sysdyno -n "__fish_sysdyno_needs_command" -f -a "probe" -d 'Measure what an outsider waits, operation by operation: HTTP, TCP or ICMP'
complete -c sysdyno -n "__fish_sysdyno_needs_command" -f -a "compare" -d 'Compare runs: whether they may be compared, what differs, by how much'
complete -c sysdyno -n "__fish_sysdyno_needs_command" -f -a "facts" -d 'Say what this host is, or what differs between two hosts'
complete -c sysdyno -n "__fish_sysdyno_needs_command" -f -a "runs" -d 'List the runs that were recorded'
complete -c sysdyno -n "__fish_sysdyno_needs_command" -f -a "show" -d 'Print a recorded run again'
complete -c sysdyno -n "__fish_sysdyno_needs_command" -f -a "report" -d 'Make the HTML report of a recorded run again'
complete -c sysdyno -n "__fish_sysdyno_needs_command" -f -a "completions" -d 'Print completions for a shell'
complete -c sysdyno -n "__fish_sysdyno_needs_command" -f -a "docs" -d 'Write manual pages, completions and the command reference into a folder'
complete -c sysdyno -n "__fish_sysdyno_needs_command" -f -a "agent" -d 'Serve requests to read this host; what `--server` starts there'
complete -c sysdyno -n "__fish_sysdyno_needs_command" -f -a "target" -d 'Serve the built-in target until standard input ends'
complete -c sysdyno -n "__fish_sysdyno_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand demo" -l bottleneck -d 'The bottleneck to plant: accept-queue (connections find it full; its remedy is tried and proved), worker-pool (all workers wait while the CPUs idle) or single-thread (one thread works alone)' -r -f -a "accept-queue\t'A queue of connections that is too short'
worker-pool\t'A pool of workers that all wait'
single-thread\t'One thread that works alone'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand demo" -l runs-dir -d 'Folder of the runs [default: ~/.local/state/sysdyno/runs]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand demo" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand demo" -l json -d 'Print the result as one JSON document'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand demo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l objective -d 'What a rate must meet to count as carried, as p99<20ms [default: p99<50ms]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l effort -d 'How long the search may take: about 1, 4 or 15 minutes [default: standard]' -r -f -a "quick\t'About a minute, and a quarter more at most: short windows, one certification pass'
standard\t'About four minutes'
thorough\t'About fifteen minutes: windows of 30 s, five certification passes'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -s c -l connections -d 'Connections that the offered rate may use; a range (10..700) or a list measures the closed-loop curve instead [default: 256]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l max-rate -d 'Try no rate above this' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l arrival -d 'How requests arrive [default: poisson]' -r -f -a "poisson\t'Exponential gaps, as of many independent users'
constant\t'Equal gaps'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l window -d 'Length of each measured window, instead of the effort\'s' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l fail-if -d 'Fail (exit code 1) if this holds, as in \'p99>20ms\', \'errors>0.1%\' or \'goodput<5k/s\'; may be given several times' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l urls -d 'File of URLs of this server, one in a line with its weight: \'[WEIGHT] [METHOD] URL\'' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l mix -d 'Access log (common or combined format) whose GET and HEAD requests are drawn as often as they stand in it' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l need -d 'Access log of real traffic (common or combined format); the capacity is said in times of its busiest minute' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -s m -l method -d 'Method of the request [default: GET]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -s H -l header -d 'Header field of the request; may be given several times' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -s p -l body-file -d 'File with the body of the request' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l content-type -d 'Content type of that body' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l expect-status -d 'Accepted status codes [default: 200 to 399]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l expect-length -d 'Exact length of the body in bytes' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l expect-header -d 'Header field that the response must have, with this value if one is given' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l expect-body -d 'Text that the body must contain' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l any-body -d 'Accept bodies that differ from the first one; without this, they are failures' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l max-body -d 'Longest body that is read to its end [default: 64MiB]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l timeout -d 'Give a request up this long after its intended send [default: 10s]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -s T -d 'A duration: --timeout, as wrk has it; a type with a slash: --content-type, as ab has it' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l connect-timeout -d 'Give a connection up after this long [default: 5s]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l idle-timeout -d 'Give a request up when nothing has come for this long [default: the timeout]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l no-keepalive -d 'Open a connection per request, as ab does without -k' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l requests-per-connection -d 'Requests per connection [default: as many as the server takes]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -s t -l threads -d 'Generator threads [default: half of the CPUs]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l io -d 'How to talk to the kernel [default: uring where the kernel has and allows it, else epoll]' -r -f -a "auto\t'io_uring where the kernel has and allows it, else epoll'
uring\t'io_uring, or no load'
epoll\t'epoll'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l spin -d 'Spin before what is due in an open load, instead of sleeping [default: where the server runs on other CPUs]' -r -f -a "auto\t'Where the server runs on other CPUs'
on\t'Until it is found that something else runs on the generator\'s CPUs'
off\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l stamps -d 'Which instant ends a latency: when the kernel got the response, or when it was read [default: kernel]' -r -f -a "kernel\t'When the kernel got the packet; over TCP'
user\t'When the generator read it'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l seed -d 'Seed of arrivals and orders [default: drawn, and recorded]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l watch-pid -d 'Process of the service to measure, too: an application server, a database. Those that hold the target\'s socket always are' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l http2 -d 'Speak HTTP/2: over TLS by alpn, over a plain socket by prior knowledge; without a value, as the URL says' -r -f -a "auto\t'By alpn for https://, by prior knowledge for http://'
alpn\t'In the TLS handshake; of a target https://'
prior\t'It is known to; of a target http://'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l streams -d 'Requests at a time on each connection of HTTP/2 [default: 1]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l tls-ca -d 'File with the certificates to trust (PEM) [default: those that the system trusts]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l tls-cert -d 'File with the client\'s certificate (PEM)' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l tls-key -d 'File with the key of the client\'s certificate (PEM)' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l tls-name -d 'Name to ask for and to find in the certificate [default: the host of the URL]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l tls-version -d 'The one version to offer [default: 1.2 and 1.3]' -r -f -a "1.2\t'TLS 1.2'
1.3\t'TLS 1.3'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l tls-resume -d 'Share of the connections that resume a session instead of a full handshake, as 90% or 0.9 [default: 0%]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l insecure -d 'Take any certificate; said in the verdict of every run' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l mc-preset -d 'A published workload instead of the defaults below: etc, the general pool of Facebook in 2012' -r -f -a "etc\t'30 gets to a set, sizes of keys and values as published (Atikoglu et al., SIGMETRICS 2012)'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l mc-protocol -d 'Commands to use [default: text]' -r -f -a "text\t'get and set'
meta\t'mg and ms, since memcached 1.6'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l mc-gets -d 'Share of the requests that read, as 90% or 0.9; the others store [default: 90%]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l mc-multiget -d 'Keys that one reading request asks for [default: 1]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l mc-keys -d 'Number of different keys [default: 100000]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l mc-popularity -d 'Which keys are asked for how often: uniform, or zipf:EXPONENT [default: uniform]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l mc-key-size -d 'Length of the keys [default: 30]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l mc-value-size -d 'Length of the values [default: 200]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l mc-expiry -d 'How long the server is to keep a value [default: for ever]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l mc-no-verify -d 'Do not compare values that are read with those that belong to their keys' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l mc-no-preload -d 'Do not store all keys before the load' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l server -d 'Host of the server, whose counters are read too: netns:NAME, netns:/PATH, [USER@]HOST or ssh://[USER@]HOST[:PORT]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l load-from -d 'Hosts that send the load together, instead of this process: as for --server, or \'here\'' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l ssh-config -d 'Configuration for ssh [default: ssh\'s own]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l source -d 'Addresses of this host that connections come from, in turn [default: the kernel\'s choice]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l proxy-protocol -d 'Begin each connection with a PROXY header that says its own addresses, for servers that expect one' -r -f -a "v1\t'One line of text'
v2\t'Binary'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l churn -d 'Close so many connections after a response and make new ones, as in 100/s; this host closes first' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l probe -d 'Measure beside the load, ten times a second, what an outsider waits: for the same request (http), a connection (tcp) or an echo (icmp)' -r -f -a "http\t'A request on a kept connection'
tcp\t'A connection, made and closed'
icmp\t'An ICMP echo, as of ping'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l probe-log -d 'Write a line per operation of the probe, with its time, into this file' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l runs-dir -d 'Folder of the runs [default: ~/.local/state/sysdyno/runs]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l same-body -d 'Fail bodies that differ from the first one (the default)'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -s k -l keep-alive -d 'Keep connections, as ab and weighttp say it (the default here)'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l server-sudo -d 'Start the program there by `sudo -n`, to see the processes of other users'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l target-is-mine -d 'Say that the target is yours to load, though a router leads to it; without this, a terminal is asked'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l dry-run -d 'Print the plan, with the most load that it can send, and do nothing'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -l json -d 'Print the result as one JSON document'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -s c -l connections -d 'Connections; without --rate, each is a client that sends when it was answered [default: 64]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -s d -l duration -d 'Length of the load; a bare number is seconds, as in wrk [default: 10s]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -s n -l requests -d 'Send this many requests' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -s r -l rate -d 'Offered rate; makes the load an open one, in which requests are sent whether or not others were answered' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l steps -d 'Several rates in turn, each for the duration' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l ramp -d 'A rate, or a number of clients, that changes: 100/s..5k/s:60s, steps:100/s..1k/s:10x30s, 10..200:60s, or a file' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l objective -d 'What a ramp or steps must meet; the answer is where it broke [default: p99<50ms]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l arrival -d 'How requests of an open load arrive [default: poisson]' -r -f -a "poisson\t'Exponential gaps, as of many independent users'
constant\t'Equal gaps'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l warmup -d 'Load before the measured one [default: 0s]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l fail-if -d 'Fail (exit code 1) if this holds, as in \'p99>20ms\', \'errors>0.1%\' or \'goodput<5k/s\'; may be given several times' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l urls -d 'File of URLs of this server, one in a line with its weight: \'[WEIGHT] [METHOD] URL\'' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l mix -d 'Access log (common or combined format) whose GET and HEAD requests are drawn as often as they stand in it' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l replay -d 'Access log (common or combined format) whose GET and HEAD requests are sent at the instants at which they came' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l speed -d 'How many times as fast as the log: 2x, 0.5x [default: 1x]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l session -d 'Simulate users: \'web20\', or a TOML file of operations, what follows them, and when' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l users -d 'Users at the same time [default: what the session says]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l pages-only -d 'Leave out what pages embed, and files that are sent' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -s m -l method -d 'Method of the request [default: GET]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -s H -l header -d 'Header field of the request; may be given several times' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -s p -l body-file -d 'File with the body of the request' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l content-type -d 'Content type of that body' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l expect-status -d 'Accepted status codes [default: 200 to 399]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l expect-length -d 'Exact length of the body in bytes' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l expect-header -d 'Header field that the response must have, with this value if one is given' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l expect-body -d 'Text that the body must contain' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l any-body -d 'Accept bodies that differ from the first one; without this, they are failures' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l max-body -d 'Longest body that is read to its end [default: 64MiB]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l timeout -d 'Give a request up this long after its intended send [default: 10s]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -s T -d 'A duration: --timeout, as wrk has it; a type with a slash: --content-type, as ab has it' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l connect-timeout -d 'Give a connection up after this long [default: 5s]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l idle-timeout -d 'Give a request up when nothing has come for this long [default: the timeout]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l no-keepalive -d 'Open a connection per request, as ab does without -k' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l requests-per-connection -d 'Requests per connection [default: as many as the server takes]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -s t -l threads -d 'Generator threads [default: half of the CPUs]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l io -d 'How to talk to the kernel [default: uring where the kernel has and allows it, else epoll]' -r -f -a "auto\t'io_uring where the kernel has and allows it, else epoll'
uring\t'io_uring, or no load'
epoll\t'epoll'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l spin -d 'Spin before what is due in an open load, instead of sleeping [default: where the server runs on other CPUs]' -r -f -a "auto\t'Where the server runs on other CPUs'
on\t'Until it is found that something else runs on the generator\'s CPUs'
off\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l stamps -d 'Which instant ends a latency: when the kernel got the response, or when it was read [default: kernel]' -r -f -a "kernel\t'When the kernel got the packet; over TCP'
user\t'When the generator read it'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l seed -d 'Seed of arrivals and orders [default: drawn, and recorded]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l watch-pid -d 'Process of the service to measure, too: an application server, a database. Those that hold the target\'s socket always are' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l http2 -d 'Speak HTTP/2: over TLS by alpn, over a plain socket by prior knowledge; without a value, as the URL says' -r -f -a "auto\t'By alpn for https://, by prior knowledge for http://'
alpn\t'In the TLS handshake; of a target https://'
prior\t'It is known to; of a target http://'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l streams -d 'Requests at a time on each connection of HTTP/2 [default: 1]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l tls-ca -d 'File with the certificates to trust (PEM) [default: those that the system trusts]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l tls-cert -d 'File with the client\'s certificate (PEM)' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l tls-key -d 'File with the key of the client\'s certificate (PEM)' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l tls-name -d 'Name to ask for and to find in the certificate [default: the host of the URL]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l tls-version -d 'The one version to offer [default: 1.2 and 1.3]' -r -f -a "1.2\t'TLS 1.2'
1.3\t'TLS 1.3'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l tls-resume -d 'Share of the connections that resume a session instead of a full handshake, as 90% or 0.9 [default: 0%]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l insecure -d 'Take any certificate; said in the verdict of every run' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l mc-preset -d 'A published workload instead of the defaults below: etc, the general pool of Facebook in 2012' -r -f -a "etc\t'30 gets to a set, sizes of keys and values as published (Atikoglu et al., SIGMETRICS 2012)'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l mc-protocol -d 'Commands to use [default: text]' -r -f -a "text\t'get and set'
meta\t'mg and ms, since memcached 1.6'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l mc-gets -d 'Share of the requests that read, as 90% or 0.9; the others store [default: 90%]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l mc-multiget -d 'Keys that one reading request asks for [default: 1]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l mc-keys -d 'Number of different keys [default: 100000]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l mc-popularity -d 'Which keys are asked for how often: uniform, or zipf:EXPONENT [default: uniform]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l mc-key-size -d 'Length of the keys [default: 30]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l mc-value-size -d 'Length of the values [default: 200]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l mc-expiry -d 'How long the server is to keep a value [default: for ever]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l mc-no-verify -d 'Do not compare values that are read with those that belong to their keys' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l mc-no-preload -d 'Do not store all keys before the load' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l server -d 'Host of the server, whose counters are read too: netns:NAME, netns:/PATH, [USER@]HOST or ssh://[USER@]HOST[:PORT]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l load-from -d 'Hosts that send the load together, instead of this process: as for --server, or \'here\'' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l ssh-config -d 'Configuration for ssh [default: ssh\'s own]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l source -d 'Addresses of this host that connections come from, in turn [default: the kernel\'s choice]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l proxy-protocol -d 'Begin each connection with a PROXY header that says its own addresses, for servers that expect one' -r -f -a "v1\t'One line of text'
v2\t'Binary'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l churn -d 'Close so many connections after a response and make new ones, as in 100/s; this host closes first' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l probe -d 'Measure beside the load, ten times a second, what an outsider waits: for the same request (http), a connection (tcp) or an echo (icmp)' -r -f -a "http\t'A request on a kept connection'
tcp\t'A connection, made and closed'
icmp\t'An ICMP echo, as of ping'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l probe-log -d 'Write a line per operation of the probe, with its time, into this file' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l command -d 'Run this command again and again: -n times [default: 10] or for -d, each at most for --timeout [default: 1h]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l prepare -d 'Run this command before each run; not measured, and the end of all if it fails' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l clean -d 'Run this command after each run, also after one that was cut off; not measured' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l cache -d 'State of the page cache before a run [default: as-is]' -r -f -a "as-is\t'Whatever it is'
cold\t'Dropped before each run, for the whole host; needs root and --accept-drop-caches'
warm\t'The command has run once, unmeasured'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l files -d 'Create, lock, sync, rename and remove small files in this folder, for -d [default: 10s] or -n files; it must be new or empty' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l file-count -d 'Files that each worker keeps [default: 1000]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l file-size -d 'Length of each file [default: 4KiB]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l workers -d 'Workers side by side, each on one operation at a time [default: 1]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l runs-dir -d 'Folder of the runs [default: ~/.local/state/sysdyno/runs]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l output -d 'Form of the result [default: text]' -r -f -a "text\t'One screen for people'
json\t'One JSON document'
csv\t'One header, and a line for each measured phase'
hdr\t'The percentile text of HdrHistogram, for its plotters'
ab\t'The text of ApacheBench, for scripts that read it'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l same-body -d 'Fail bodies that differ from the first one (the default)'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -s k -l keep-alive -d 'Keep connections, as ab and weighttp say it (the default here)'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l server-sudo -d 'Start the program there by `sudo -n`, to see the processes of other users'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l target-is-mine -d 'Say that the target is yours to load, though a router leads to it; without this, a terminal is asked'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l shell -d 'Let /bin/sh read these commands'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l show-output -d 'Let the output of these commands through, to standard error'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l accept-drop-caches -d 'Agree that --cache cold drops the page cache of the whole host before each run'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l dry-run -d 'Print the plan, with the most load that it can send, and do nothing'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -l json -d 'Print the result as one JSON document, as --output json'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand load" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l a -d 'Command that is A; its time is the metric' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l b -d 'Command that is B' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l experiment -d 'File that says what A and B are, and any option' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l metric -d 'What decides: cpu (per request, at a fixed rate), goodput, p99, capacity, or time (of commands) [default: cpu, of commands time]' -r -f -a "cpu\t'CPU time of the server\'s processes per request'
goodput\t'Completed and valid requests'
p99\t'99th percentile of the latency'
capacity\t'Highest rate that meets p99<50ms'
time\t'How long a command takes'
cpu-time\t'CPU time of a command'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l effect -d 'The smallest effect that matters [default: 3% of cpu, goodput and time, 5% of capacity, 10% of p99]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l budget -d 'How long it may take [default: 20m]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l pairs -d 'Most pairs of one comparison, at least 8 [default: 40]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l window -d 'Length of each measured window [default: 10s]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l warmup -d 'Load before each window [default: what the pilot needs to settle]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -s c -l connections -d 'Connections; of a closed load, each is a client [default: 64]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -s r -l rate -d 'Offered rate of each trial [default: a share of what the pilot finds; for goodput, as much as the connections take]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l share -d 'Offered rate as a share of what the weaker of A and B takes [default: 70%]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l arrival -d 'How requests of an open load arrive [default: poisson]' -r -f -a "poisson\t'Exponential gaps, as of many independent users'
constant\t'Equal gaps'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l keep -d 'Keep the change until the next boot if B is better and every guardrail held' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l calibrate -d 'Compare the host with itself, to learn what it can resolve; later verdicts quote it' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l noisy -d 'Count pairs whatever others do on the host: the interval gets wider instead' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l fail-if -d 'Fail (exit code 1) if this is the word' -r -f -a "better\t'B is better'
worse\t'B is worse'
same\t'B is the same'
cannot-tell\t'It can\'t be told'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -s m -l method -d 'Method of the request [default: GET]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -s H -l header -d 'Header field of the request; may be given several times' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -s p -l body-file -d 'File with the body of the request' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l content-type -d 'Content type of that body' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l expect-status -d 'Accepted status codes [default: 200 to 399]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l expect-length -d 'Exact length of the body in bytes' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l expect-header -d 'Header field that the response must have, with this value if one is given' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l expect-body -d 'Text that the body must contain' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l any-body -d 'Accept bodies that differ from the first one; without this, they are failures' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l max-body -d 'Longest body that is read to its end [default: 64MiB]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l timeout -d 'Give a request up this long after its intended send [default: 10s]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -s T -d 'A duration: --timeout, as wrk has it; a type with a slash: --content-type, as ab has it' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l connect-timeout -d 'Give a connection up after this long [default: 5s]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l idle-timeout -d 'Give a request up when nothing has come for this long [default: the timeout]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l no-keepalive -d 'Open a connection per request, as ab does without -k' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l requests-per-connection -d 'Requests per connection [default: as many as the server takes]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -s t -l threads -d 'Generator threads [default: half of the CPUs]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l io -d 'How to talk to the kernel [default: uring where the kernel has and allows it, else epoll]' -r -f -a "auto\t'io_uring where the kernel has and allows it, else epoll'
uring\t'io_uring, or no load'
epoll\t'epoll'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l spin -d 'Spin before what is due in an open load, instead of sleeping [default: where the server runs on other CPUs]' -r -f -a "auto\t'Where the server runs on other CPUs'
on\t'Until it is found that something else runs on the generator\'s CPUs'
off\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l stamps -d 'Which instant ends a latency: when the kernel got the response, or when it was read [default: kernel]' -r -f -a "kernel\t'When the kernel got the packet; over TCP'
user\t'When the generator read it'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l seed -d 'Seed of arrivals and orders [default: drawn, and recorded]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l watch-pid -d 'Process of the service to measure, too: an application server, a database. Those that hold the target\'s socket always are' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l http2 -d 'Speak HTTP/2: over TLS by alpn, over a plain socket by prior knowledge; without a value, as the URL says' -r -f -a "auto\t'By alpn for https://, by prior knowledge for http://'
alpn\t'In the TLS handshake; of a target https://'
prior\t'It is known to; of a target http://'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l streams -d 'Requests at a time on each connection of HTTP/2 [default: 1]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l tls-ca -d 'File with the certificates to trust (PEM) [default: those that the system trusts]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l tls-cert -d 'File with the client\'s certificate (PEM)' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l tls-key -d 'File with the key of the client\'s certificate (PEM)' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l tls-name -d 'Name to ask for and to find in the certificate [default: the host of the URL]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l tls-version -d 'The one version to offer [default: 1.2 and 1.3]' -r -f -a "1.2\t'TLS 1.2'
1.3\t'TLS 1.3'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l tls-resume -d 'Share of the connections that resume a session instead of a full handshake, as 90% or 0.9 [default: 0%]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l insecure -d 'Take any certificate; said in the verdict of every run' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l mc-preset -d 'A published workload instead of the defaults below: etc, the general pool of Facebook in 2012' -r -f -a "etc\t'30 gets to a set, sizes of keys and values as published (Atikoglu et al., SIGMETRICS 2012)'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l mc-protocol -d 'Commands to use [default: text]' -r -f -a "text\t'get and set'
meta\t'mg and ms, since memcached 1.6'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l mc-gets -d 'Share of the requests that read, as 90% or 0.9; the others store [default: 90%]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l mc-multiget -d 'Keys that one reading request asks for [default: 1]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l mc-keys -d 'Number of different keys [default: 100000]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l mc-popularity -d 'Which keys are asked for how often: uniform, or zipf:EXPONENT [default: uniform]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l mc-key-size -d 'Length of the keys [default: 30]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l mc-value-size -d 'Length of the values [default: 200]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l mc-expiry -d 'How long the server is to keep a value [default: for ever]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l mc-no-verify -d 'Do not compare values that are read with those that belong to their keys' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l mc-no-preload -d 'Do not store all keys before the load' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l urls -d 'File of URLs of this server, one in a line with its weight: \'[WEIGHT] [METHOD] URL\'' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l mix -d 'Access log (common or combined format) whose GET and HEAD requests are drawn as often as they stand in it' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l runs-dir -d 'Folder of the runs [default: ~/.local/state/sysdyno/runs]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l state-dir -d 'State folder of settings; journals lie in \'tune\' below it [default: /var/lib/sysdyno]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l root -d 'Tree whose /proc, /sys and /etc are meant' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l shell -d 'Hand commands to /bin/sh instead of starting their program'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l same-body -d 'Fail bodies that differ from the first one (the default)'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -s k -l keep-alive -d 'Keep connections, as ab and weighttp say it (the default here)'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l target-is-mine -d 'Say that the target is yours to load, though a router leads to it; without this, a terminal is asked'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l dry-run -d 'Print the plan, with how long it may take, and do nothing'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -l json -d 'Print the result as one JSON document'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand try" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and not __fish_seen_subcommand_from plan run resume report help" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and not __fish_seen_subcommand_from plan run resume report help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and not __fish_seen_subcommand_from plan run resume report help" -f -a "plan" -d 'Say what would be measured, in which order and how long it takes, and do nothing'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and not __fish_seen_subcommand_from plan run resume report help" -f -a "run" -d 'Measure every combination, block by block'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and not __fish_seen_subcommand_from plan run resume report help" -f -a "resume" -d 'Measure what is missing in a folder'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and not __fish_seen_subcommand_from plan run resume report help" -f -a "report" -d 'Compare what a folder holds, and make its report again'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and not __fish_seen_subcommand_from plan run resume report help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from plan" -l folder -d 'Folder in which the folder of this experiment is made [default: experiments, beside the runs]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from plan" -l runs-dir -d 'Folder of the runs [default: ~/.local/state/sysdyno/runs]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from plan" -l state-dir -d 'State folder; journals of settings lie in \'tune\' below it, labs in \'lab\' [default: /var/lib/sysdyno]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from plan" -l root -d 'Tree whose /proc, /sys and /etc are meant' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from plan" -l ssh-config -d 'Configuration for ssh [default: ssh\'s own]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from plan" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from plan" -l quick -d 'Measure the short version: what the file\'s [quick] table says'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from plan" -l server-sudo -d 'Start the program on hosts behind ssh by `sudo -n`; labs need root there'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from plan" -l target-is-mine -d 'Say that the target is yours to load, though a router leads to it; without this, a terminal is asked'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from plan" -l yes -d 'Install packages that services of the file\'s lab need without asking'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from plan" -l json -d 'Print the result as one JSON document'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from plan" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from run" -l folder -d 'Folder in which the folder of this experiment is made [default: experiments, beside the runs]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from run" -l runs-dir -d 'Folder of the runs [default: ~/.local/state/sysdyno/runs]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from run" -l state-dir -d 'State folder; journals of settings lie in \'tune\' below it, labs in \'lab\' [default: /var/lib/sysdyno]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from run" -l root -d 'Tree whose /proc, /sys and /etc are meant' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from run" -l ssh-config -d 'Configuration for ssh [default: ssh\'s own]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from run" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from run" -l quick -d 'Measure the short version: what the file\'s [quick] table says'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from run" -l server-sudo -d 'Start the program on hosts behind ssh by `sudo -n`; labs need root there'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from run" -l target-is-mine -d 'Say that the target is yours to load, though a router leads to it; without this, a terminal is asked'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from run" -l yes -d 'Install packages that services of the file\'s lab need without asking'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from run" -l json -d 'Print the result as one JSON document'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from resume" -l state-dir -d 'State folder; journals of settings lie in \'tune\' below it, labs in \'lab\' [default: /var/lib/sysdyno]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from resume" -l root -d 'Tree whose /proc, /sys and /etc are meant' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from resume" -l ssh-config -d 'Configuration for ssh [default: ssh\'s own]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from resume" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from resume" -l server-sudo -d 'Start the program on hosts behind ssh by `sudo -n`; labs need root there'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from resume" -l target-is-mine -d 'Say that the target is yours to load, though a router leads to it; without this, a terminal is asked'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from resume" -l yes -d 'Install packages that services of the file\'s lab need without asking'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from resume" -l json -d 'Print the result as one JSON document'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from resume" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from report" -l state-dir -d 'State folder; journals of settings lie in \'tune\' below it, labs in \'lab\' [default: /var/lib/sysdyno]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from report" -l root -d 'Tree whose /proc, /sys and /etc are meant' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from report" -l ssh-config -d 'Configuration for ssh [default: ssh\'s own]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from report" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from report" -l server-sudo -d 'Start the program on hosts behind ssh by `sudo -n`; labs need root there'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from report" -l target-is-mine -d 'Say that the target is yours to load, though a router leads to it; without this, a terminal is asked'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from report" -l yes -d 'Install packages that services of the file\'s lab need without asking'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from report" -l json -d 'Print the result as one JSON document'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from report" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from help" -f -a "plan" -d 'Say what would be measured, in which order and how long it takes, and do nothing'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from help" -f -a "run" -d 'Measure every combination, block by block'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from help" -f -a "resume" -d 'Measure what is missing in a folder'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from help" -f -a "report" -d 'Compare what a folder holds, and make its report again'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand experiment; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and not __fish_seen_subcommand_from list plan apply commit undo status history persist recover guard help" -l state-dir -d 'State folder; journals lie in \'tune\' below it [default: /var/lib/sysdyno]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and not __fish_seen_subcommand_from list plan apply commit undo status history persist recover guard help" -l root -d 'Tree whose /proc, /sys and /etc are meant' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and not __fish_seen_subcommand_from list plan apply commit undo status history persist recover guard help" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and not __fish_seen_subcommand_from list plan apply commit undo status history persist recover guard help" -l json -d 'Print the result as one JSON document'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and not __fish_seen_subcommand_from list plan apply commit undo status history persist recover guard help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and not __fish_seen_subcommand_from list plan apply commit undo status history persist recover guard help" -f -a "list" -d 'List the settings that can be changed, and what they do'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and not __fish_seen_subcommand_from list plan apply commit undo status history persist recover guard help" -f -a "plan" -d 'Say what changes would write, what undoes them, and who else sets the same; needs no rights'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and not __fish_seen_subcommand_from list plan apply commit undo status history persist recover guard help" -f -a "apply" -d 'Make changes as a trial, which is undone at its deadline unless it is committed'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and not __fish_seen_subcommand_from list plan apply commit undo status history persist recover guard help" -f -a "commit" -d 'Keep what is being tried, until the next boot'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and not __fish_seen_subcommand_from list plan apply commit undo status history persist recover guard help" -f -a "undo" -d 'Undo what is being tried, or what was committed'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and not __fish_seen_subcommand_from list plan apply commit undo status history persist recover guard help" -f -a "status" -d 'Say what is being tried, by when it is undone, and what its settings are now'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and not __fish_seen_subcommand_from list plan apply commit undo status history persist recover guard help" -f -a "history" -d 'List the trials that are over'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and not __fish_seen_subcommand_from list plan apply commit undo status history persist recover guard help" -f -a "persist" -d 'Keep settings over a reboot, in a file of our own; what is in force is not touched'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and not __fish_seen_subcommand_from list plan apply commit undo status history persist recover guard help" -f -a "recover" -d 'Undo what was left behind by a trial whose guardian is dead'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and not __fish_seen_subcommand_from list plan apply commit undo status history persist recover guard help" -f -a "guard" -d 'Watch over a trial'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and not __fish_seen_subcommand_from list plan apply commit undo status history persist recover guard help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from list" -l state-dir -d 'State folder; journals lie in \'tune\' below it [default: /var/lib/sysdyno]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from list" -l root -d 'Tree whose /proc, /sys and /etc are meant' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from list" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from list" -l all -d 'All of them, not only those that matter most often'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from list" -l json -d 'Print the result as one JSON document'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from plan" -l state-dir -d 'State folder; journals lie in \'tune\' below it [default: /var/lib/sysdyno]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from plan" -l root -d 'Tree whose /proc, /sys and /etc are meant' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from plan" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from plan" -l json -d 'Print the result as one JSON document'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from plan" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from apply" -l for -d 'How long the trial lasts' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from apply" -l state-dir -d 'State folder; journals lie in \'tune\' below it [default: /var/lib/sysdyno]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from apply" -l root -d 'Tree whose /proc, /sys and /etc are meant' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from apply" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from apply" -l json -d 'Print the result as one JSON document'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from apply" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from commit" -l state-dir -d 'State folder; journals lie in \'tune\' below it [default: /var/lib/sysdyno]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from commit" -l root -d 'Tree whose /proc, /sys and /etc are meant' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from commit" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from commit" -l json -d 'Print the result as one JSON document'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from commit" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from undo" -l state-dir -d 'State folder; journals lie in \'tune\' below it [default: /var/lib/sysdyno]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from undo" -l root -d 'Tree whose /proc, /sys and /etc are meant' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from undo" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from undo" -l print-shell -d 'Print lines of shell that undo it, and do nothing'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from undo" -l json -d 'Print the result as one JSON document'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from undo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from status" -l state-dir -d 'State folder; journals lie in \'tune\' below it [default: /var/lib/sysdyno]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from status" -l root -d 'Tree whose /proc, /sys and /etc are meant' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from status" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from status" -l json -d 'Print the result as one JSON document'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from history" -l state-dir -d 'State folder; journals lie in \'tune\' below it [default: /var/lib/sysdyno]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from history" -l root -d 'Tree whose /proc, /sys and /etc are meant' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from history" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from history" -l json -d 'Print the result as one JSON document'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from history" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from persist" -l state-dir -d 'State folder; journals lie in \'tune\' below it [default: /var/lib/sysdyno]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from persist" -l root -d 'Tree whose /proc, /sys and /etc are meant' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from persist" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from persist" -l remove -d 'Take settings (KEY) out of the file again; without any, take the file away'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from persist" -l json -d 'Print the result as one JSON document'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from persist" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from recover" -l state-dir -d 'State folder; journals lie in \'tune\' below it [default: /var/lib/sysdyno]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from recover" -l root -d 'Tree whose /proc, /sys and /etc are meant' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from recover" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from recover" -l json -d 'Print the result as one JSON document'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from recover" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from guard" -l terminal -d 'Terminal on which the trial was made' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from guard" -l terminal-uid -d 'Whose terminal that was' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from guard" -l state-dir -d 'State folder; journals lie in \'tune\' below it [default: /var/lib/sysdyno]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from guard" -l root -d 'Tree whose /proc, /sys and /etc are meant' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from guard" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from guard" -l json -d 'Print the result as one JSON document'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from guard" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from help" -f -a "list" -d 'List the settings that can be changed, and what they do'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from help" -f -a "plan" -d 'Say what changes would write, what undoes them, and who else sets the same; needs no rights'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from help" -f -a "apply" -d 'Make changes as a trial, which is undone at its deadline unless it is committed'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from help" -f -a "commit" -d 'Keep what is being tried, until the next boot'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from help" -f -a "undo" -d 'Undo what is being tried, or what was committed'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from help" -f -a "status" -d 'Say what is being tried, by when it is undone, and what its settings are now'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from help" -f -a "history" -d 'List the trials that are over'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from help" -f -a "persist" -d 'Keep settings over a reboot, in a file of our own; what is in force is not touched'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from help" -f -a "recover" -d 'Undo what was left behind by a trial whose guardian is dead'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from help" -f -a "guard" -d 'Watch over a trial'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand tune; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and not __fish_seen_subcommand_from up status logs exec reload down recipes keep relay help" -l state-dir -d 'State folder; labs lie in \'lab\' below it [default: /var/lib/sysdyno]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and not __fish_seen_subcommand_from up status logs exec reload down recipes keep relay help" -l ssh-config -d 'Configuration for ssh [default: ssh\'s own]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and not __fish_seen_subcommand_from up status logs exec reload down recipes keep relay help" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and not __fish_seen_subcommand_from up status logs exec reload down recipes keep relay help" -l server-sudo -d 'Start the program on hosts behind ssh by `sudo -n`; labs need root there'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and not __fish_seen_subcommand_from up status logs exec reload down recipes keep relay help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and not __fish_seen_subcommand_from up status logs exec reload down recipes keep relay help" -f -a "up" -d 'Put a lab up: its namespaces, links, shares on hosts behind ssh, and services, in this order; needs root'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and not __fish_seen_subcommand_from up status logs exec reload down recipes keep relay help" -f -a "status" -d 'Say what a lab is now, whether its services are well, and where they are; exit code 1 if one is not'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and not __fish_seen_subcommand_from up status logs exec reload down recipes keep relay help" -f -a "logs" -d 'Print what services have printed'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and not __fish_seen_subcommand_from up status logs exec reload down recipes keep relay help" -f -a "exec" -d 'Run a command on a host, in its namespace or by ssh; its exit code is that of this command'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and not __fish_seen_subcommand_from up status logs exec reload down recipes keep relay help" -f -a "reload" -d 'Have a service read its files again'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and not __fish_seen_subcommand_from up status logs exec reload down recipes keep relay help" -f -a "down" -d 'Take a lab away, however far it was made: processes, namespaces, links, files, here and on hosts behind ssh'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and not __fish_seen_subcommand_from up status logs exec reload down recipes keep relay help" -f -a "recipes" -d 'List the services that are known, or the parameters of one'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and not __fish_seen_subcommand_from up status logs exec reload down recipes keep relay help" -f -a "keep" -d 'Keep a service'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and not __fish_seen_subcommand_from up status logs exec reload down recipes keep relay help" -f -a "relay" -d 'Forward frames between both ends of a link'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and not __fish_seen_subcommand_from up status logs exec reload down recipes keep relay help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from up" -l state-dir -d 'State folder; labs lie in \'lab\' below it [default: /var/lib/sysdyno]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from up" -l ssh-config -d 'Configuration for ssh [default: ssh\'s own]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from up" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from up" -l yes -d 'Install packages that are missing without asking'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from up" -l dry-run -d 'Say what would be made and installed, and do nothing'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from up" -l server-sudo -d 'Start the program on hosts behind ssh by `sudo -n`; labs need root there'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from up" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from status" -l state-dir -d 'State folder; labs lie in \'lab\' below it [default: /var/lib/sysdyno]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from status" -l ssh-config -d 'Configuration for ssh [default: ssh\'s own]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from status" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from status" -l json -d 'Print the result as one JSON document'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from status" -l server-sudo -d 'Start the program on hosts behind ssh by `sudo -n`; labs need root there'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from logs" -l state-dir -d 'State folder; labs lie in \'lab\' below it [default: /var/lib/sysdyno]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from logs" -l ssh-config -d 'Configuration for ssh [default: ssh\'s own]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from logs" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from logs" -l server-sudo -d 'Start the program on hosts behind ssh by `sudo -n`; labs need root there'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from logs" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from exec" -l state-dir -d 'State folder; labs lie in \'lab\' below it [default: /var/lib/sysdyno]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from exec" -l ssh-config -d 'Configuration for ssh [default: ssh\'s own]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from exec" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from exec" -l server-sudo -d 'Start the program on hosts behind ssh by `sudo -n`; labs need root there'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from exec" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from reload" -l state-dir -d 'State folder; labs lie in \'lab\' below it [default: /var/lib/sysdyno]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from reload" -l ssh-config -d 'Configuration for ssh [default: ssh\'s own]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from reload" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from reload" -l server-sudo -d 'Start the program on hosts behind ssh by `sudo -n`; labs need root there'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from reload" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from down" -l state-dir -d 'State folder; labs lie in \'lab\' below it [default: /var/lib/sysdyno]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from down" -l ssh-config -d 'Configuration for ssh [default: ssh\'s own]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from down" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from down" -l all -d 'Take all labs away'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from down" -l server-sudo -d 'Start the program on hosts behind ssh by `sudo -n`; labs need root there'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from down" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from recipes" -l state-dir -d 'State folder; labs lie in \'lab\' below it [default: /var/lib/sysdyno]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from recipes" -l ssh-config -d 'Configuration for ssh [default: ssh\'s own]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from recipes" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from recipes" -l server-sudo -d 'Start the program on hosts behind ssh by `sudo -n`; labs need root there'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from recipes" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from keep" -l state-dir -d 'State folder; labs lie in \'lab\' below it [default: /var/lib/sysdyno]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from keep" -l ssh-config -d 'Configuration for ssh [default: ssh\'s own]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from keep" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from keep" -l server-sudo -d 'Start the program on hosts behind ssh by `sudo -n`; labs need root there'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from keep" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from relay" -l state-dir -d 'State folder; labs lie in \'lab\' below it [default: /var/lib/sysdyno]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from relay" -l ssh-config -d 'Configuration for ssh [default: ssh\'s own]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from relay" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from relay" -l server-sudo -d 'Start the program on hosts behind ssh by `sudo -n`; labs need root there'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from relay" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "up" -d 'Put a lab up: its namespaces, links, shares on hosts behind ssh, and services, in this order; needs root'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "status" -d 'Say what a lab is now, whether its services are well, and where they are; exit code 1 if one is not'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "logs" -d 'Print what services have printed'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "exec" -d 'Run a command on a host, in its namespace or by ssh; its exit code is that of this command'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "reload" -d 'Have a service read its files again'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "down" -d 'Take a lab away, however far it was made: processes, namespaces, links, files, here and on hosts behind ssh'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "recipes" -d 'List the services that are known, or the parameters of one'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "keep" -d 'Keep a service'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "relay" -d 'Forward frames between both ends of a link'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand probe" -s k -l kind -d 'The operation, instead of the one that the target\'s form stands for' -r -f -a "http\t'A request on a kept connection'
tcp\t'A connection, made and closed'
icmp\t'An ICMP echo, as of ping'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand probe" -s c -l count -d 'End after so many operations [default: go on until Ctrl-C]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand probe" -s d -l duration -d 'End after this time' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand probe" -s i -l interval -d 'Time between two operations; at least 10ms, to a public address 100ms [default: 1s]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand probe" -s W -l timeout -d 'Give an operation up this long after its intended send [default: 5s]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand probe" -l log -d 'Also write the lines into this file' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand probe" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand probe" -l target-is-mine -d 'Say that the target is yours to load, though a router leads to it; without this, a terminal is asked'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand probe" -l json -d 'Print no lines, and the result as one JSON document'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand probe" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand compare" -l effect -d 'The smallest effect that matters [default: that of each metric, see docs/compare.md]' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand compare" -l metric -d 'Only this metric (capacity, goodput, p99, p90, p50 or cpu); several times for several, the first one decides' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand compare" -l allow -d 'Compare although this gate refuses (its name or number, see docs/compare.md); several times for several' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand compare" -l fail-if -d 'End with exit code 1 if a side differs from the first in this way' -r -f -a "worse\t'Some metric of a side is worse'
different\t'Some metric of a side is better or worse'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand compare" -l workload -d 'What the hosts are for, which ranks what differs between them' -r -f -a "web\t'Many connections and short requests'
files\t'Many files made, changed and removed'
memory\t'Data that lie in memory'
any\t'Any of these'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand compare" -l report -d 'Write the page here [default: compare-A-B.html in the folder of the runs]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand compare" -l runs-dir -d 'Folder of the runs [default: ~/.local/state/sysdyno/runs]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand compare" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand compare" -l trend -d 'Look at the runs as a series in time, all of them if none is named, and find where the level changed'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand compare" -l no-report -d 'Write no page'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand compare" -l json -d 'Print the result as one JSON document'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand compare" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand facts" -l workload -d 'What the hosts are for, which decides what matters first' -r -f -a "web\t'Many connections and short requests'
files\t'Many files made, changed and removed'
memory\t'Data that lie in memory'
any\t'Any of these'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand facts" -l only -d 'Only facts of these names; * stands for any characters, as in \'sysctl.net.*\'' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand facts" -s o -l output -d 'Save the facts as JSON here, to compare them later or elsewhere' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand facts" -l runs-dir -d 'Folder of the runs [default: ~/.local/state/sysdyno/runs]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand facts" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand facts" -l all -d 'Print everything, not only what fits a screen'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand facts" -l fail-if-different -d 'End with exit code 1 if the two hosts differ'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand facts" -l json -d 'Print one JSON document'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand facts" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand runs; and not __fish_seen_subcommand_from rm prune help" -l sort -d 'What comes first: the newest, the greatest rate, the least p99, or the worst verdict' -r -f -a "time\t'The newest'
rate\t'The greatest rate'
p99\t'The least 99th percentile'
verdict\t'The worst verdict'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand runs; and not __fish_seen_subcommand_from rm prune help" -l kind -d 'Only runs of this command' -r -f -a "run\t'Searches for the capacity'
load\t'Loads'
demo\t'Demonstrations'
try\t'Experiments'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand runs; and not __fish_seen_subcommand_from rm prune help" -l verdict -d 'Only runs with this verdict' -r -f -a "valid\t'The numbers may be trusted'
suspect\t'They may be skewed'
invalid\t'They must not be taken for the server\'s'
better\t'B is better'
worse\t'B is worse'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand runs; and not __fish_seen_subcommand_from rm prune help" -l contains -d 'Only runs with this in their name, their command line, or what stopped them' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand runs; and not __fish_seen_subcommand_from rm prune help" -s n -l limit -d 'At most so many' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand runs; and not __fish_seen_subcommand_from rm prune help" -l runs-dir -d 'Folder of the runs [default: ~/.local/state/sysdyno/runs]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand runs; and not __fish_seen_subcommand_from rm prune help" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand runs; and not __fish_seen_subcommand_from rm prune help" -l json -d 'Print one JSON document'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand runs; and not __fish_seen_subcommand_from rm prune help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand runs; and not __fish_seen_subcommand_from rm prune help" -f -a "rm" -d 'Remove runs'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand runs; and not __fish_seen_subcommand_from rm prune help" -f -a "prune" -d 'Remove all runs but the newest'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand runs; and not __fish_seen_subcommand_from rm prune help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand runs; and __fish_seen_subcommand_from rm" -l runs-dir -d 'Folder of the runs [default: ~/.local/state/sysdyno/runs]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand runs; and __fish_seen_subcommand_from rm" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand runs; and __fish_seen_subcommand_from rm" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand runs; and __fish_seen_subcommand_from prune" -l keep -d 'How many stay' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand runs; and __fish_seen_subcommand_from prune" -l runs-dir -d 'Folder of the runs [default: ~/.local/state/sysdyno/runs]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand runs; and __fish_seen_subcommand_from prune" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand runs; and __fish_seen_subcommand_from prune" -l dry-run -d 'Only say which would be removed'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand runs; and __fish_seen_subcommand_from prune" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand runs; and __fish_seen_subcommand_from help" -f -a "rm" -d 'Remove runs'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand runs; and __fish_seen_subcommand_from help" -f -a "prune" -d 'Remove all runs but the newest'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand runs; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand show" -l runs-dir -d 'Folder of the runs [default: ~/.local/state/sysdyno/runs]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand show" -l output -d 'Form of the result [default: text]' -r -f -a "text\t'One screen for people'
json\t'One JSON document'
csv\t'One header, and a line for each measured phase'
hdr\t'The percentile text of HdrHistogram, for its plotters'
ab\t'The text of ApacheBench, for scripts that read it'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand show" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand show" -l json -d 'Print the result as one JSON document, as --output json'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand show" -l verify -d 'Also compare every file with its digest'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand report" -l runs-dir -d 'Folder of the runs [default: ~/.local/state/sysdyno/runs]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand report" -s o -l output -d 'Write the report here instead of into the run\'s folder' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand report" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand report" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand completions" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand docs" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand docs" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand agent" -l netns -d 'Enter this network namespace first' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand agent" -l state-dir -d 'State folder of this host; shares of labs lie in \'lab\' below it [default: /var/lib/sysdyno]' -r -F
complete -c sysdyno -n "__fish_sysdyno_using_subcommand agent" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand agent" -l stdio -d 'Serve requests on the standard input until it ends'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand agent" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand target" -l listen -d 'Where to listen' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand target" -l threads -d 'Threads that serve' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand target" -l body-bytes -d 'Length of each response\'s body. Unit: bytes' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand target" -l workers -d 'A pool of so many workers, each of which holds a request for --hold-ms' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand target" -l hold-ms -d 'How long a worker holds a request. Unit: milliseconds' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand target" -l work-us -d 'One thread that works this long on each request. Unit: microseconds' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand target" -l backlog -d 'An accept queue of this length, from which one connection is taken every --accept-delay-ms' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand target" -l accept-delay-ms -d 'Time between two accepts. Unit: milliseconds' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand target" -l stall-every-ms -d 'The server answers nothing for --stall-for-ms every so often. Unit: milliseconds' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand target" -l stall-for-ms -d 'Length of a stall. Unit: milliseconds' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand target" -l delays-us -d 'Each response is delayed by the next of these, in turn. Unit: microseconds' -r
complete -c sysdyno -n "__fish_sysdyno_using_subcommand target" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c sysdyno -n "__fish_sysdyno_using_subcommand target" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and not __fish_seen_subcommand_from demo run load try experiment tune lab probe compare facts runs show report completions docs agent target help" -f -a "demo" -d 'Run the whole loop against a built-in server with a planted bottleneck, in a minute and a half'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and not __fish_seen_subcommand_from demo run load try experiment tune lab probe compare facts runs show report completions docs agent target help" -f -a "run" -d 'Find the capacity of a server under a latency objective, and what limits it'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and not __fish_seen_subcommand_from demo run load try experiment tune lab probe compare facts runs show report completions docs agent target help" -f -a "load" -d 'Drive load at a server and report what came back'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and not __fish_seen_subcommand_from demo run load try experiment tune lab probe compare facts runs show report completions docs agent target help" -f -a "try" -d 'Try one reversible change on a live server, and say whether it helped'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and not __fish_seen_subcommand_from demo run load try experiment tune lab probe compare facts runs show report completions docs agent target help" -f -a "experiment" -d 'Measure every combination of some factors, in blocks, and say which differ'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and not __fish_seen_subcommand_from demo run load try experiment tune lab probe compare facts runs show report completions docs agent target help" -f -a "tune" -d 'Change settings of this host so that they can always be put back'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and not __fish_seen_subcommand_from demo run load try experiment tune lab probe compare facts runs show report completions docs agent target help" -f -a "lab" -d 'Put up hosts, links and real services on this machine, and take them away again'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and not __fish_seen_subcommand_from demo run load try experiment tune lab probe compare facts runs show report completions docs agent target help" -f -a "probe" -d 'Measure what an outsider waits, operation by operation: HTTP, TCP or ICMP'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and not __fish_seen_subcommand_from demo run load try experiment tune lab probe compare facts runs show report completions docs agent target help" -f -a "compare" -d 'Compare runs: whether they may be compared, what differs, by how much'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and not __fish_seen_subcommand_from demo run load try experiment tune lab probe compare facts runs show report completions docs agent target help" -f -a "facts" -d 'Say what this host is, or what differs between two hosts'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and not __fish_seen_subcommand_from demo run load try experiment tune lab probe compare facts runs show report completions docs agent target help" -f -a "runs" -d 'List the runs that were recorded'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and not __fish_seen_subcommand_from demo run load try experiment tune lab probe compare facts runs show report completions docs agent target help" -f -a "show" -d 'Print a recorded run again'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and not __fish_seen_subcommand_from demo run load try experiment tune lab probe compare facts runs show report completions docs agent target help" -f -a "report" -d 'Make the HTML report of a recorded run again'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and not __fish_seen_subcommand_from demo run load try experiment tune lab probe compare facts runs show report completions docs agent target help" -f -a "completions" -d 'Print completions for a shell'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and not __fish_seen_subcommand_from demo run load try experiment tune lab probe compare facts runs show report completions docs agent target help" -f -a "docs" -d 'Write manual pages, completions and the command reference into a folder'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and not __fish_seen_subcommand_from demo run load try experiment tune lab probe compare facts runs show report completions docs agent target help" -f -a "agent" -d 'Serve requests to read this host; what `--server` starts there'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and not __fish_seen_subcommand_from demo run load try experiment tune lab probe compare facts runs show report completions docs agent target help" -f -a "target" -d 'Serve the built-in target until standard input ends'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and not __fish_seen_subcommand_from demo run load try experiment tune lab probe compare facts runs show report completions docs agent target help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and __fish_seen_subcommand_from experiment" -f -a "plan" -d 'Say what would be measured, in which order and how long it takes, and do nothing'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and __fish_seen_subcommand_from experiment" -f -a "run" -d 'Measure every combination, block by block'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and __fish_seen_subcommand_from experiment" -f -a "resume" -d 'Measure what is missing in a folder'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and __fish_seen_subcommand_from experiment" -f -a "report" -d 'Compare what a folder holds, and make its report again'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and __fish_seen_subcommand_from tune" -f -a "list" -d 'List the settings that can be changed, and what they do'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and __fish_seen_subcommand_from tune" -f -a "plan" -d 'Say what changes would write, what undoes them, and who else sets the same; needs no rights'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and __fish_seen_subcommand_from tune" -f -a "apply" -d 'Make changes as a trial, which is undone at its deadline unless it is committed'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and __fish_seen_subcommand_from tune" -f -a "commit" -d 'Keep what is being tried, until the next boot'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and __fish_seen_subcommand_from tune" -f -a "undo" -d 'Undo what is being tried, or what was committed'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and __fish_seen_subcommand_from tune" -f -a "status" -d 'Say what is being tried, by when it is undone, and what its settings are now'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and __fish_seen_subcommand_from tune" -f -a "history" -d 'List the trials that are over'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and __fish_seen_subcommand_from tune" -f -a "persist" -d 'Keep settings over a reboot, in a file of our own; what is in force is not touched'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and __fish_seen_subcommand_from tune" -f -a "recover" -d 'Undo what was left behind by a trial whose guardian is dead'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and __fish_seen_subcommand_from tune" -f -a "guard" -d 'Watch over a trial'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "up" -d 'Put a lab up: its namespaces, links, shares on hosts behind ssh, and services, in this order; needs root'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "status" -d 'Say what a lab is now, whether its services are well, and where they are; exit code 1 if one is not'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "logs" -d 'Print what services have printed'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "exec" -d 'Run a command on a host, in its namespace or by ssh; its exit code is that of this command'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "reload" -d 'Have a service read its files again'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "down" -d 'Take a lab away, however far it was made: processes, namespaces, links, files, here and on hosts behind ssh'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "recipes" -d 'List the services that are known, or the parameters of one'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "keep" -d 'Keep a service'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "relay" -d 'Forward frames between both ends of a link'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and __fish_seen_subcommand_from runs" -f -a "rm" -d 'Remove runs'
complete -c sysdyno -n "__fish_sysdyno_using_subcommand help; and __fish_seen_subcommand_from runs" -f -a "prune" -d 'Remove all runs but the newest'
