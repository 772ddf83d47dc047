/**
 * `npm run check`: checks the subjects of all commits since this rule, as far as a shallow clone has them.
 */
import { execFileSync } from 'node:child_process';

const SINCE = '2026-11-28T10:00:00Z';
const MOST = 72;

/** Words that only look like a third person, a past tense or a gerund. */
const IMPERATIVE =
  /^(?:Access|Address|Assess|Bring|Bypass|Canvass|Compress|Cross|Discuss|Dismiss|Embed|Express|Feed|Focus|Guess|Heed|Miss|Need|Pass|Ping|Press|Process|Proceed|Seed|Shed|Speed|Suppress|Swing|Weed)$/;

/** Returns the faults of a subject. */
export function subjectFaults(subject: string): readonly string[] {
  const [first = ''] = subject.split(' ');
  const faults: string[] = [];
  if (subject.length > MOST) faults.push(`at most ${String(MOST)} characters`);
  if (subject.endsWith('.')) faults.push('no full stop');
  if (!/^[A-Z][a-z-]+$/.test(first) || (/(?:ed|ing|s)$/.test(first) && !IMPERATIVE.test(first))) {
    faults.push('begin with a verb in the imperative');
  }
  return faults;
}

if (import.meta.main) {
  const subjects = execFileSync('git', ['log', '--no-merges', `--since=${SINCE}`, '--format=%s'], {
    encoding: 'utf8',
  });
  const found = subjects
    .split('\n')
    .filter((subject) => subject !== '')
    .flatMap((subject) => subjectFaults(subject).map((fault) => `${subject}: ${fault}`));
  if (found.length > 0) {
    process.stderr.write(`Subjects of commits:\n${found.join('\n')}\n`);
    process.exitCode = 1;
  }
}
