// SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only
//
// When data came to a tier's socket, when it was read, when the answer was written, and when the next tier answered: sums of these
// times for each tier and for each address that it asks.
//
// Three tracepoints are attached, all of which only read: sk_data_ready, sock_recv_length, and sock_send_length. The state of a
// connection is in the storage of its socket, which the kernel frees with it. Which processes and listening addresses are of
// which tier is told by user space (crates/observe/src/collect/requests), which also reads the sums.
//
// A socket that was accepted (server):                A socket to the next tier (client):
//
//   data ready ──wait──► read ──inside──► sent          sent ──inside──► data ready ──unread──► read
//                         ▲                 │            ▲                  ▲                     │
//                         └── merged: more  ├─inside     └── merged: sent   └────────trail────────┤
//                             data before   ▼                again before                         ▼
//                             the answer,  sent              the answer                    more of the answer
//                             partial
//
// Each step adds the time since the step before to a sum, so that nothing is left over that would have to be added when the
// connection is closed. Peeking and failed calls are no data.
//
// Where there are more messages than need be seen, only some of the connections are watched, and what is added stands for the
// others, too: user space says how many, and for how long the same ones. Nothing is known of a connection when its turn comes.
//
// It is also noted which threads have read a request and not yet answered it, and whether the threads of a process answer what
// they have read, one request at a time. Of those that do, user space knows who is at work.

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef int __s32;

// What is used of the kernel's types; the loader looks up where the fields are in the running kernel.
#define OF_KERNEL __attribute__((preserve_access_index))

struct in6_addr {
	__u8 bytes[16];
} OF_KERNEL;

struct ns_common {
	unsigned int inum;
} OF_KERNEL;

struct net {
	struct ns_common ns;
} OF_KERNEL;

typedef struct {
	struct net *net;
} possible_net_t;

struct sock_common {
	__u32 skc_daddr;
	__u32 skc_rcv_saddr;
	__u16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	volatile unsigned char skc_state;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
} OF_KERNEL;

struct sock {
	struct sock_common __sk_common;
	__u16 sk_type;
	__u16 sk_protocol;
	void *sk_bpf_storage;
} OF_KERNEL;

struct super_block {
	__u32 s_dev;
} OF_KERNEL;

struct inode {
	unsigned long i_ino;
	struct super_block *i_sb;
} OF_KERNEL;

struct dentry {
	struct inode *d_inode;
} OF_KERNEL;

struct path {
	struct dentry *dentry;
} OF_KERNEL;

struct sockaddr_un {
	char sun_path[108];
} OF_KERNEL;

struct unix_address {
	int len;
	struct sockaddr_un name[];
} OF_KERNEL;

struct unix_sock {
	struct unix_address *addr;
	struct path path;
	struct sock *peer;
} OF_KERNEL;

// What is used of the helpers of BPF, by their numbers in include/uapi/linux/bpf.h.
static void *(*const map_lookup)(void *map, const void *key) = (void *)1;
static long (*const map_update)(void *map, const void *key, const void *value, __u64 flags) = (void *)2;
static long (*const map_delete)(void *map, const void *key) = (void *)3;
static __u64 (*const ktime_ns)(void) = (void *)5;
static __u64 (*const pid_tgid)(void) = (void *)14;
static __u64 (*const socket_cookie)(void *sk) = (void *)46;
static void *(*const sk_storage)(void *map, void *sk, void *value, __u64 flags) = (void *)107;
static long (*const read_kernel)(void *to, __u32 size, const void *from) = (void *)113;
static __u64 (*const jiffies)(void) = (void *)118;
static struct unix_sock *(*const to_unix_sock)(void *sk) = (void *)178;

#define SECTION(name) __attribute__((section(name), used))
#define INLINE static inline __attribute__((always_inline))
#define UINT(name, value) int(*name)[value]

enum { AF_UNIX = 1, AF_INET = 2, AF_INET6 = 10 };
enum { SOCK_STREAM = 1, SOCK_SEQPACKET = 5 };
enum { IPPROTO_TCP = 6, TCP_CLOSE_WAIT = 8, TCP_LISTEN = 10, MSG_PEEK = 2 };
enum { MAP_HASH = 1, MAP_ARRAY = 2, MAP_PERCPU_ARRAY = 6, MAP_LRU_HASH = 9, MAP_SK_STORAGE = 24 };
enum { NO_PREALLOC = 1, STORAGE_CREATE = 1, NO_EXIST = 1 };

enum { PORTS = 65536, PORTS_EACH = 64 };
enum { MAX_PARTIES = 512, MAX_LISTENERS = 16384, MAX_PROCESSES = 4096, MAX_THREADS = 16384, NAME_BYTES = 108 };
enum { SERVER = 0, CLIENT = 1 };

// Parts of a message that follow each other as fast as this are one message. Unit: nanoseconds.
#define BURST_NS 50000

// Who sends more of an answer later than this after a part of it worked on it in between. Unit: nanoseconds.
#define WORK_NS 5000000

// Who listens at a port that is no tier's.
#define NO_TIER 0xffffffff

// The third word of an address of IPv4 that is written as one of IPv6.
#define MAPPED __builtin_bswap32(0xffff)

struct tcp_key {
	__u32 netns;
	__u32 port;
	// One of IPv4 in the first word; all 0: any address.
	__u32 address[4];
};

struct unix_key {
	// The lower half of the number, as sock_diag tells it.
	__u32 inode;
	__u32 device;
};

// Whose times are added up together: a tier and, for a client, the address that it asks.
struct party {
	__u32 tier;
	__u32 role;
	__u32 family;
	__u32 netns;
	// TCP: of the peer. Unix: the length of its address.
	__u32 port;
	__u32 padding;
	// TCP: of the peer. Unix: inode and device of its file, or the beginning of an abstract name.
	__u8 address[16];
};

struct place {
	__u32 slot;
	// What a Unix socket is bound to.
	__u8 name[NAME_BYTES];
};

struct sums {
	// Requests that were read (server) or sent (client), and those of them that were answered.
	__u64 begun;
	__u64 answered;
	// Messages of more than one step where it is not known whether they are one request or several.
	__u64 merged;
	__u64 wait_ns;
	__u64 inside_ns;
	__u64 trail_ns;
	__u64 unread_ns;
	// Of the time inside (server): from reading a part of a request until more of it came.
	__u64 partial_ns;
};

// Which connections are watched: those whose number and the number of the turn together have none of the bits of the mask.
struct sampling {
	__u32 mask;
	// A turn lasts two to this power. Unit: jiffies.
	__u32 turn_shift;
	// Another one each time that these change.
	__u32 generation;
};

struct connection {
	// Since when there is data that was not read; 0: there is none.
	__u64 ready_ns;
	// Up to when the open request is accounted for; 0: none is open.
	__u64 mark_ns;
	__u32 slot;
	__u8 role;
	__u8 is_answered;
	// Something was read after the answer that had come before it: the end of that request, unless it is answered, too.
	__u8 is_rest_read;
	// When it was watched last, and for how many connections it stands.
	__u32 turn;
	__u32 weight;
	// Who read its open request (server); 0: that is answered, or not noted.
	__u32 thread;
};

// The request that a thread has.
struct opened {
	__u64 since_ns;
	// In which its connection was watched; after that nobody sees its answer.
	__u32 turn;
	__u32 padding;
};

// How the threads of a process handle requests.
struct handling {
	// Requests that were answered by the thread that had read them.
	__u64 alone;
	// Those that another thread answered or went on reading, that were read while the thread had another one, or that were worked
	// on after the beginning of the answer.
	__u64 otherwise;
};

struct {
	UINT(type, MAP_SK_STORAGE);
	UINT(map_flags, NO_PREALLOC);
	int *key;
	struct connection *value;
} connections SECTION(".maps");

struct {
	UINT(type, MAP_HASH);
	UINT(max_entries, MAX_PROCESSES);
	__u32 *key;
	__u32 *value;
} processes SECTION(".maps");

struct {
	UINT(type, MAP_HASH);
	UINT(max_entries, MAX_LISTENERS);
	struct tcp_key *key;
	__u32 *value;
} tcp_listeners SECTION(".maps");

// A bit for each port that is in tcp_listeners, of whatever namespace: most sockets are out of the question by it.
struct {
	UINT(type, MAP_ARRAY);
	UINT(max_entries, PORTS / PORTS_EACH);
	__u32 *key;
	__u64 *value;
} tcp_ports SECTION(".maps");

struct {
	UINT(type, MAP_HASH);
	UINT(max_entries, MAX_LISTENERS);
	struct unix_key *key;
	__u32 *value;
} unix_listeners SECTION(".maps");

struct {
	UINT(type, MAP_HASH);
	UINT(max_entries, MAX_PARTIES);
	struct party *key;
	struct place *value;
} parties SECTION(".maps");

struct {
	UINT(type, MAP_ARRAY);
	UINT(max_entries, 1);
	__u32 *key;
	__u32 *value;
} next_slot SECTION(".maps");

struct {
	UINT(type, MAP_PERCPU_ARRAY);
	UINT(max_entries, MAX_PARTIES);
	__u32 *key;
	struct sums *value;
} sums SECTION(".maps");

struct {
	UINT(type, MAP_ARRAY);
	UINT(max_entries, 1);
	__u32 *key;
	struct sampling *value;
} sampling SECTION(".maps");

// By thread.
struct {
	UINT(type, MAP_LRU_HASH);
	UINT(max_entries, MAX_THREADS);
	__u32 *key;
	struct opened *value;
} open_requests SECTION(".maps");

// In which a request was noted last.
struct {
	UINT(type, MAP_ARRAY);
	UINT(max_entries, 1);
	__u32 *key;
	__u32 *value;
} last_turn SECTION(".maps");

struct {
	UINT(type, MAP_LRU_HASH);
	UINT(max_entries, MAX_PROCESSES);
	__u32 *key;
	struct handling *value;
} handling SECTION(".maps");

INLINE int is_tcp(struct sock *sk)
{
	return sk->__sk_common.skc_family != AF_UNIX;
}

// A number that spreads connections evenly, whatever the steps between their ports.
INLINE __u32 number_of(struct sock *sk)
{
	__u32 number = is_tcp(sk) ? sk->__sk_common.skc_num + __builtin_bswap16(sk->__sk_common.skc_dport) :
				    (__u32)socket_cookie(sk);
	return number * 0x9e3779b1 >> 16;
}

struct turn {
	__u32 number;
	// 0: it is not the turn of this socket.
	__u32 weight;
};

INLINE struct turn turn_of(struct sock *sk)
{
	struct turn turn = {};
	__u32 zero = 0;
	struct sampling *chosen = map_lookup(&sampling, &zero);
	if (!chosen)
		return turn;
	turn.number = chosen->generation;
	if (chosen->mask) {
		turn.number += jiffies() >> (chosen->turn_shift & 63);
		if ((number_of(sk) + turn.number) & chosen->mask)
			return turn;
	}
	turn.weight = chosen->mask + 1;
	return turn;
}

INLINE int is_stream(struct sock *sk)
{
	__u16 family = sk->__sk_common.skc_family;
	if (family == AF_INET || family == AF_INET6)
		return sk->sk_protocol == IPPROTO_TCP && sk->__sk_common.skc_state != TCP_LISTEN;
	return family == AF_UNIX && (sk->sk_type == SOCK_STREAM || sk->sk_type == SOCK_SEQPACKET);
}

INLINE int is_at_listening_port(struct sock *sk)
{
	__u32 port = sk->__sk_common.skc_num;
	__u32 word = port / PORTS_EACH;
	__u64 *bits = map_lookup(&tcp_ports, &word);
	return bits && (*bits >> (port % PORTS_EACH)) & 1;
}

// The state of this socket, if it has one. Nearly all calls are for sockets that have none, so that this is looked at first.
INLINE struct connection *known(struct sock *sk, struct turn turn)
{
	struct connection *connection = sk->sk_bpf_storage ? sk_storage(&connections, sk, 0, 0) : 0;
	if (connection && connection->turn != turn.number) {
		connection->ready_ns = 0;
		connection->mark_ns = 0;
		connection->is_answered = 0;
		connection->is_rest_read = 0;
		connection->turn = turn.number;
		connection->weight = turn.weight;
		connection->thread = 0;
	}
	return connection;
}

INLINE struct unix_key file_of(struct unix_sock *unix_sk)
{
	struct unix_key key = {};
	struct dentry *dentry = unix_sk->path.dentry;
	if (dentry) {
		struct inode *inode = dentry->d_inode;
		if (inode) {
			key.inode = inode->i_ino;
			key.device = inode->i_sb->s_dev;
		}
	}
	return key;
}

// The address of this end; one of IPv4 in the first word, also where the socket is one of IPv6.
INLINE void own_address(struct sock *sk, __u32 address[4])
{
	if (sk->__sk_common.skc_family == AF_INET) {
		address[0] = sk->__sk_common.skc_rcv_saddr;
		return;
	}
	read_kernel(address, 16, &sk->__sk_common.skc_v6_rcv_saddr);
	if (!address[0] && !address[1] && address[2] == MAPPED) {
		address[0] = address[3];
		address[2] = 0;
		address[3] = 0;
	}
}

// The tier that listens where this socket was accepted; none: it was not accepted from any that is known.
INLINE __u32 *listener_of(struct sock *sk)
{
	if (is_tcp(sk)) {
		struct tcp_key key = {};
		key.netns = sk->__sk_common.skc_net.net->ns.inum;
		key.port = sk->__sk_common.skc_num;
		own_address(sk, key.address);
		__u32 *tier = map_lookup(&tcp_listeners, &key);
		if (tier)
			return tier;
		__builtin_memset(key.address, 0, sizeof(key.address));
		return map_lookup(&tcp_listeners, &key);
	}
	struct unix_sock *unix_sk = to_unix_sock(sk);
	if (!unix_sk)
		return 0;
	struct unix_key key = file_of(unix_sk);
	return key.inode ? map_lookup(&unix_listeners, &key) : 0;
}

// The number of a party, which gets one if it has none.
INLINE __u32 slot_of(struct party *party, const struct place *named)
{
	struct place *known = map_lookup(&parties, party);
	if (known)
		return known->slot;
	__u32 zero = 0;
	__u32 *next = map_lookup(&next_slot, &zero);
	if (!next || *next >= MAX_PARTIES)
		return MAX_PARTIES;
	struct place place = *named;
	place.slot = __sync_fetch_and_add(next, 1);
	if (place.slot < MAX_PARTIES)
		map_update(&parties, party, &place, NO_EXIST);
	known = map_lookup(&parties, party);
	return known ? known->slot : MAX_PARTIES;
}

INLINE struct connection *begin(struct sock *sk, struct turn turn, struct party *party, const struct place *named)
{
	struct connection fresh = {};
	fresh.turn = turn.number;
	fresh.weight = turn.weight;
	fresh.slot = slot_of(party, named);
	fresh.role = party->role;
	return fresh.slot < MAX_PARTIES ? sk_storage(&connections, sk, &fresh, STORAGE_CREATE) : 0;
}

INLINE struct connection *begin_server(struct sock *sk, struct turn turn)
{
	__u32 *tier = listener_of(sk);
	if (!tier || *tier == NO_TIER)
		return 0;
	struct party party = {};
	struct place place = {};
	party.tier = *tier;
	party.role = SERVER;
	return begin(sk, turn, &party, &place);
}

// Who is at the other end of a Unix socket; fails where that was accepted, or has no address.
INLINE int find_unix_peer(struct sock *sk, struct party *party, struct place *place)
{
	struct unix_sock *unix_sk = to_unix_sock(sk);
	if (!unix_sk || unix_sk->addr)
		return 0;
	struct unix_sock *peer = (struct unix_sock *)unix_sk->peer;
	if (!peer)
		return 0;
	struct unix_address *address = 0;
	read_kernel(&address, sizeof(address), &peer->addr);
	if (!address)
		return 0;
	__s32 length = 0;
	read_kernel(&length, sizeof(length), &address->len);
	party->port = length;
	read_kernel(place->name, NAME_BYTES, (const char *)&address->name + 2);
	struct dentry *dentry = 0;
	read_kernel(&dentry, sizeof(dentry), &peer->path.dentry);
	if (!dentry) {
		__builtin_memcpy(party->address, place->name, sizeof(party->address));
		return 1;
	}
	struct inode *inode = 0;
	struct super_block *super_block = 0;
	unsigned long number = 0;
	__u32 device = 0;
	read_kernel(&inode, sizeof(inode), &dentry->d_inode);
	read_kernel(&number, sizeof(number), &inode->i_ino);
	read_kernel(&super_block, sizeof(super_block), &inode->i_sb);
	read_kernel(&device, sizeof(device), &super_block->s_dev);
	struct unix_key key = { (__u32)number, device };
	__builtin_memcpy(party->address, &key, sizeof(key));
	return 1;
}

INLINE struct connection *begin_client(struct sock *sk, struct turn turn)
{
	__u32 tgid = pid_tgid() >> 32;
	__u32 *tier = map_lookup(&processes, &tgid);
	if (!tier || !is_stream(sk) || listener_of(sk))
		return 0;
	struct party party = {};
	struct place place = {};
	party.tier = *tier;
	party.role = CLIENT;
	party.family = sk->__sk_common.skc_family;
	party.netns = sk->__sk_common.skc_net.net->ns.inum;
	if (!is_tcp(sk)) {
		if (!find_unix_peer(sk, &party, &place))
			return 0;
	} else {
		party.port = sk->__sk_common.skc_dport;
		if (party.family == AF_INET)
			*(__u32 *)party.address = sk->__sk_common.skc_daddr;
		else
			read_kernel(party.address, 16, &sk->__sk_common.skc_v6_daddr);
	}
	return begin(sk, turn, &party, &place);
}

// Whether what came is only that the client has closed, after its answer.
INLINE int is_end(struct sock *sk, struct connection *connection)
{
	return connection->role == SERVER && connection->is_answered &&
	       sk->__sk_common.skc_state == TCP_CLOSE_WAIT && is_tcp(sk);
}

SECTION("tp_btf/sk_data_ready")
int data_ready(__u64 *context)
{
	struct sock *sk = (struct sock *)context[0];
	struct turn turn = turn_of(sk);
	if (!turn.weight)
		return 0;
	struct connection *connection = known(sk, turn);
	if (!connection) {
		if (is_tcp(sk) && !is_at_listening_port(sk))
			return 0;
		if (is_stream(sk))
			connection = begin_server(sk, turn);
	}
	if (connection && !connection->ready_ns && !is_end(sk, connection))
		connection->ready_ns = ktime_ns();
	return 0;
}

INLINE void note_handling(int is_alone)
{
	__u32 process = pid_tgid() >> 32;
	struct handling *known = map_lookup(&handling, &process);
	if (!known) {
		struct handling fresh = { is_alone, !is_alone };
		map_update(&handling, &process, &fresh, NO_EXIST);
		return;
	}
	__sync_fetch_and_add(is_alone ? &known->alone : &known->otherwise, 1);
}

INLINE void note_open(struct connection *connection, __u64 now)
{
	__u32 thread = pid_tgid();
	if (connection->thread == thread)
		return;
	if (connection->thread)
		map_delete(&open_requests, &connection->thread);
	struct opened fresh = { now, connection->turn, 0 };
	struct opened *before = map_lookup(&open_requests, &thread);
	if (connection->thread || (before && before->turn == fresh.turn))
		note_handling(0);
	map_update(&open_requests, &thread, &fresh, 0);
	__u32 zero = 0;
	__u32 *last = map_lookup(&last_turn, &zero);
	if (last)
		*last = fresh.turn;
	connection->thread = thread;
}

INLINE void note_end(struct connection *connection)
{
	if (!connection->thread)
		return;
	map_delete(&open_requests, &connection->thread);
	note_handling(connection->thread == (__u32)pid_tgid());
	connection->thread = 0;
}

INLINE void read_as_server(struct connection *connection, struct sums *sums, __u64 now)
{
	__u64 weight = connection->weight;
	if (!connection->ready_ns) {
		// The rest of what came together; after the answer, it may be another request (php-fpm reads the end of its input late).
		connection->is_rest_read |= connection->is_answered;
		return;
	}
	if (connection->mark_ns && !connection->is_answered) {
		if (now - connection->mark_ns > BURST_NS) {
			__u64 ready = connection->ready_ns;
			sums->merged += weight;
			sums->partial_ns += ready > connection->mark_ns ? (ready - connection->mark_ns) * weight : 0;
		}
		sums->inside_ns += (now - connection->mark_ns) * weight;
	} else {
		sums->begun += weight;
		sums->wait_ns += (now - connection->ready_ns) * weight;
		connection->is_answered = 0;
	}
	connection->is_rest_read = 0;
	connection->mark_ns = now;
	connection->ready_ns = 0;
	note_open(connection, now);
}

INLINE void read_as_client(struct connection *connection, struct sums *sums, __u64 now)
{
	__u64 weight = connection->weight;
	if (connection->ready_ns && connection->mark_ns) {
		__u64 ready = connection->ready_ns;
		__u64 until_ready = ready > connection->mark_ns ? ready - connection->mark_ns : 0;
		if (connection->is_answered) {
			sums->trail_ns += until_ready * weight;
		} else {
			sums->answered += weight;
			sums->inside_ns += until_ready * weight;
			connection->is_answered = 1;
		}
		sums->unread_ns += (now - ready) * weight;
		connection->mark_ns = now;
	}
	connection->ready_ns = 0;
}

SECTION("tp_btf/sock_recv_length")
int received(__u64 *context)
{
	struct sock *sk = (struct sock *)context[0];
	__s32 length = (__s32)context[1];
	struct turn turn = turn_of(sk);
	if (!turn.weight)
		return 0;
	struct connection *connection = known(sk, turn);
	if (!connection || (context[2] & MSG_PEEK))
		return 0;
	if (length <= 0) {
		// Nothing was there, or only the end: nobody waits for the answer any more.
		connection->ready_ns = 0;
		if (!length)
			note_end(connection);
		return 0;
	}
	__u32 slot = connection->slot;
	struct sums *mine = map_lookup(&sums, &slot);
	if (!mine)
		return 0;
	if (connection->role == SERVER)
		read_as_server(connection, mine, ktime_ns());
	else
		read_as_client(connection, mine, ktime_ns());
	return 0;
}

SECTION("tp_btf/sock_send_length")
int sent(__u64 *context)
{
	struct sock *sk = (struct sock *)context[0];
	if ((__s32)context[1] <= 0)
		return 0;
	struct turn turn = turn_of(sk);
	if (!turn.weight)
		return 0;
	struct connection *connection = known(sk, turn);
	if (connection)
		note_end(connection);
	else
		connection = begin_client(sk, turn);
	if (!connection)
		return 0;
	__u32 slot = connection->slot;
	struct sums *mine = map_lookup(&sums, &slot);
	if (!mine)
		return 0;
	__u64 now = ktime_ns();
	__u64 weight = connection->weight;
	if (connection->role == SERVER) {
		if (!connection->mark_ns)
			return 0;
		mine->inside_ns += (now - connection->mark_ns) * weight;
		if (connection->is_answered && now - connection->mark_ns > WORK_NS)
			note_handling(0);
		mine->answered += connection->is_answered ? 0 : weight;
		mine->merged += connection->is_rest_read ? weight : 0;
		connection->is_rest_read = 0;
		connection->is_answered = 1;
	} else {
		if (connection->mark_ns && !connection->is_answered) {
			mine->inside_ns += (now - connection->mark_ns) * weight;
			mine->merged += now - connection->mark_ns > BURST_NS ? weight : 0;
		} else {
			mine->begun += weight;
		}
		connection->is_answered = 0;
		connection->ready_ns = 0;
	}
	connection->mark_ns = now;
	return 0;
}

// Which source this was built from, for a test.
SECTION("source") char built_from[] = SOURCE_DIGEST;

// What the kernel wants to know before it lets a program follow its pointers.
SECTION("license") char terms[] = "Dual MIT/GPL";
