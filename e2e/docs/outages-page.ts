import { code, GENERATED, table } from './markdown.ts';
import { OUTAGES } from './outages-data.ts';

/** The page of what fails, and what says so. */
export const outagesPage = (): string =>
  [
    GENERATED,
    '# Outages',
    '',
    'This page lists faults of the disk with SQLite, and what readiness, answers, the log and metrics say then. It is for operators.',
    '',
    '`/health/ready` is 200 while the server can do all of its work, and `/health/ready?for=reading` while it can do what needs no writing. The first is for monitoring, the second for load balancers: if they took a server away since its disk is full, nobody could remove anything.',
    '',
    'Both are 503 from the line `store.failing` of the log to the line `store.working`, which comes when nothing has failed for 5 s. Each worker answers for itself. Reads from memory may still be answered.',
    '',
    ...table(
      ['What fails', 'ready', 'for reading', 'GET', 'PUT', 'DELETE', '`/token`'],
      OUTAGES.map(({ what, ready, reading, get, put, remove, token }) => [
        what,
        ...[ready, reading, get, put, remove, token].map(String),
      ]),
    ),
    '',
    '`countersign_ready` and `countersign_ready_for_reading` are 1 where the table has 200, else 0. Each 503 has `Retry-After`. 507 is for a disk without room alone (RFC 4918 section 11.5).',
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
    'Content in files beside the store has the parts `content, reading` and `content, writing`. Redis has no such table: it fails as a whole, and if its memory is full, reading goes on as on a full disk.',
    '',
  ].join('\n');
