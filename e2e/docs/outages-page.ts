import { code, GENERATED, table } from './markdown.ts';
import { OUTAGES } from './outages-data.ts';

/** The page of faults and their signs. */
export const outagesPage = (): string =>
  [
    GENERATED,
    '# Outages',
    '',
    'This page lists faults of the disk with SQLite, and what readiness, answers, the log and metrics say then. It is for operators.',
    '',
    '`/health/ready` is 200 while the server can do all of its work, and `/health/ready?for=reading` while it can do what works on a full disk. The first is for monitoring, the second for load balancers. If they stopped using a server whose disk is full, no client could delete anything there. Where `transient.db` cannot be written, both are 503: Basic, Digest and API keys then admit no client.',
    '',
    'Both are 503 from the line `store.failing` of the log to the line `store.working`, which comes when nothing has failed for 5 s. Each worker answers for itself. During an outage the servers may still answer from memory. They may answer requests to `/token` of a client that had a token in this minute.',
    '',
    ...table(
      [
        'What fails',
        'ready',
        'for reading',
        'GET',
        'PUT',
        'DELETE',
        '`/token`',
        '`/token/revocation`',
      ],
      OUTAGES.map(({ what, ready, reading, get, put, remove, token, revoke }) => [
        what,
        ...[ready, reading, get, put, remove, token, revoke].map(String),
      ]),
    ),
    '',
    'A disk is treated as full when it has less than 1 MiB free, or a write has failed without space. That lasts until each file has its reserve again: 13 MiB free are enough for the reserve of one file, 18 for both. A document of more than 16 KiB that would leave less than 8 MiB is 507 before. While there is space, each file of the store reserves 10 MiB: 1 in a table, 4 in its WAL, 5 beside it (`*.reserve`). So the server can still revoke tokens, disable or remove people, expire keys and DELETE when the disk is full, whatever program fills it. Followers are still told, and people still sign in by Basic, Digest and API keys, but not on the page. This has limits:',
    '',
    '- A client gets no token, since the audit log has no room for the event of its first token in a minute. With `audit.required: false` the servers issue tokens without this event.',
    '- A removal that needs more than 1 MiB of new pages, or changes more than 4 MiB, is 503.',
    '- While something reads `state.db` for long, as a backup does, only 4 MiB of changes fit in its WAL: some 250 revocations. Each further one is 503 after a second or more, until that reader is done.',
    '- `transient.db` has 1 MiB for nonces, proofs and limits. If they are used up, such requests are 503 until older records expire; a sweep each minute removes these.',
    '- Servers that stop give the room of their WALs back, up to 4 MiB for each file. If something else takes it, they start in the room of the reserve. If the disk was full before they stopped, the reserve is used up: then they do not start before you free space.',
    '- On a file system that copies what it changes (Btrfs, ZFS) each write takes new space. So the table is true until other programs have used up the reserve. On Btrfs, Linux then also ends workers with SIGBUS, and their parent starts them again. Keep the data folder on ext4 or XFS.',
    '',
    '`countersign_ready` and `countersign_ready_for_reading` are 1 where the table has 200, else 0. Each 503 has `Retry-After`. A server answers 507 only if the disk is full (RFC 4918 section 11.5).',
    '',
    ...table(
      ['What fails', 'Line of the log', 'It names', '`reason` has', 'What to do'],
      OUTAGES.map(({ what, event, part, reason, remedy }) => [
        what,
        code(event),
        code(part),
        code(reason),
        remedy,
      ]),
    ),
    '',
    '`content.damaged` comes with each such answer. A server compares the length of a file alone: if other octets of the same length stand in it, they are sent. A backup of the schedule, and `backup`, compare it with the last one of the schedule, and name the document.',
    '',
    'Content in files beside the store has the parts `content, reading` and `content, writing`. Each of PostgreSQL and Redis fails as a whole, and its `part` begins with its name. If the disk of the tables of PostgreSQL is full, reading goes on as above; if that of its WAL is full, PostgreSQL stops. If the memory of Redis is full, revocations are still written, but no proof and no use of a limit is. Then `/health/ready` is 503, and with `for=reading` it is 200, since Bearer tokens still read.',
    '',
    '## PostgreSQL lacks commits',
    '',
    'It was restored to an earlier point, or a standby without the last commits was promoted. Revoked tokens and used codes would be valid again. Stop all servers and run `countersign restore --database` even if no server notices.',
    '',
    ...table(
      ['Where it is noticed', 'Answers', 'Line of the log', '`reason` has'],
      [
        [
          'a server that runs on and has read more',
          '503 to all, and `/health/ready`',
          code('store.failing'),
          code('restored to an earlier point'),
        ],
        [
          'a server that starts, with Redis beside PostgreSQL',
          'it does not start',
          code('start.failed'),
          code('restored to an earlier point'),
        ],
        ['a server that starts, without Redis', 'as always: run the command before', '', ''],
        [
          'an authorization server, by a follower over HTTP that has read more',
          'as always; the follower reads everything again, and forgets nothing',
          code('follower.ahead'),
          code('knows more than the store'),
        ],
      ],
    ),
    '',
  ].join('\n');
