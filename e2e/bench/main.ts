/**
 * `npm run bench`: one table of all works, beside peers and goals, in about 25 minutes; `-- --only TEXT`:
 * of those whose name has the text. `-- --quick`: within about two minutes what is asked most.
 * `npm run bench -- gnap`: what signed requests cost, beside Bearer and client credentials.
 * `npm run bench -- push`: messages that the push service takes and delivers, and what user agents cost that wait.
 * `npm run bench -- neighbours`: what others notice while one account changes whole trees again and again.
 * `npm run bench -- crowds`: how long a person waits who signs in amid guesses that never stop.
 * `npm run bench -- ends`: how soon a person who is disabled is out of an application with a session of its own.
 * `npm run bench -- scale-out`: what each operation costs the servers and the store that several machines share.
 * `npm run bench -- standby`: what DPoP requests cost on PostgreSQL whose commits wait for a standby.
 * `npm run bench -- cache-suite`: how many of the public tests of HTTP caches the gateway's passes, beside others; the
 * environment variable CACHE_TESTS names a checkout of http-tests/cache-tests in place of npm's package,
 * `--only NAME` one of them.
 * `npm run bench -- profile WORK [WAY]`: a flame graph of the server at one work of the table, and which part of its CPU
 * time each kind of thread had: that of libuv-worker at the sign-in form is argon2id.
 * `npm run bench -- survivors WORK [WAY]`: the octets of a request that outlive the young garbage. `--json` prints
 * JSON. Exits 1 when an answer was not what it should have been, 2 when nothing can be measured here.
 */
import '../parts/compiled.ts';
import './start-bundled.ts';
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { measureCacheSuite } from './cache-suite/cache-suite.ts';
import { measureCrowds } from './crowds.ts';
import { measureEnds } from './ends.ts';
import { measureGnap } from './gnap.ts';
import { measureNeighbours } from './neighbours.ts';
import { unquiet, watchOthers } from './others.ts';
import { profileWork, survivorsOf } from './profile/work.ts';
import { measurePush } from './push.ts';
import { format, surroundings } from './report.ts';
import type { Findings } from './report.ts';
import { measureQuick } from './quick.ts';
import { round } from './statistics.ts';
import { measureScaleOut } from './scale-out/scale-out.ts';
import { measureStandby } from './standby.ts';
import { measureWhole } from './whole.ts';

type Suite = (say: (line: string) => void) => Promise<Findings>;

/** Debian packages by the required program or file. */
const PACKAGES = {
  wrk: 'wrk',
  haproxy: 'haproxy',
  nginx: 'nginx',
  apache2: 'apache2',
  htpasswd: 'apache2-utils',
  '/usr/lib/apache2/modules/mod_auth_openidc.so': 'libapache2-mod-auth-openidc',
  squid: 'squid',
  varnishd: 'varnish',
  'redis-server': 'redis-server',
  '/usr/lib/postgresql/15/bin/initdb': 'postgresql-15',
  taskset: 'util-linux',
};

const say = (line: string) => void process.stderr.write(`${line}\n`);

/** Why nothing can be measured on this machine, in one line. */
function obstacle(): string | undefined {
  const env = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin` };
  const missing = Object.entries(PACKAGES).filter(
    ([name]) =>
      spawnSync('sh', ['-c', `command -v ${name} || test -e ${name}`], { env }).status !== 0,
  );
  if (missing.length > 0) {
    const packages = missing.map(([, wanted]) => wanted).join(' ');
    return `Missing here; on Debian: sudo apt-get install --no-install-recommends ${packages}`;
  }
  if (availableParallelism() >= 2) return undefined;
  return 'One CPU is not enough: the servers get one, the load generator another.';
}

/** Prints the reason, and resolves to the exit code. */
function refuse(reason: string): number {
  say(reason);
  return 2;
}

/** Commands that examine the server during one work. */
const LOOKS: Readonly<Record<string, (work: string, way?: string) => Promise<readonly string[]>>> =
  {
    async profile(work, way) {
      const { file, threads } = await profileWork(work, way);
      return [file, `CPU time by threads: ${threads}`];
    },
    survivors: survivorsOf,
  };

/** Prints the findings; resolves to the exit code. */
async function look(
  at: (work: string, way?: string) => Promise<readonly string[]>,
  [work = '', way]: readonly string[],
): Promise<number> {
  try {
    process.stdout.write(`${(await at(work, way)).join('\n')}\n`);
    return 0;
  } catch (error) {
    return refuse(String(error));
  }
}

async function bench(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: {
      json: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      only: { type: 'string', default: '' },
    },
    allowPositionals: true,
  });
  const unsuitable = obstacle();
  if (unsuitable !== undefined) return refuse(unsuitable);
  const at = LOOKS[positionals[0] ?? ''];
  if (at !== undefined) return look(at, positionals.slice(1));

  const wanted = values.only.toLowerCase();
  const isWanted = (name: string) => name.toLowerCase().includes(wanted);
  const suites: Readonly<Record<string, Suite>> = {
    gnap: measureGnap,
    push: measurePush,
    neighbours: measureNeighbours,
    crowds: measureCrowds,
    ends: measureEnds,
    'scale-out': (line) => measureScaleOut(line, values.quick),
    standby: measureStandby,
    quick: measureQuick,
    whole: () => measureWhole(say, isWanted),
    'cache-suite': () => {
      const checkout = process.env['CACHE_TESTS'];
      return measureCacheSuite(say, { isWanted, ...(checkout && { checkout }) });
    },
  };
  const names = positionals.length > 0 ? positionals : [values.quick ? 'quick' : 'whole'];
  const unknown = names.find((name) => !Object.hasOwn(suites, name));
  if (unknown !== undefined) {
    return refuse(`There is no suite ${unknown}, only: ${Object.keys(suites).join(', ')}.`);
  }
  const began = surroundings();
  const others = watchOthers();
  const found: Findings[] = [];
  for (const name of names) {
    say(name);
    const findings = await suites[name]?.(say);
    if (findings !== undefined) found.push(findings);
  }
  const errors = found.reduce((sum, findings) => sum + findings.errors, 0);
  const busy = others();
  const note = unquiet(busy);
  const text = values.json
    ? JSON.stringify({ ...began, others: round(busy, 2), errors, suites: found }, null, 2)
    : [
        `${began['date']}, Node ${began['node']}, ${began['cpu']}, load ${began['load']}`,
        '',
        ...found.map(format),
        ...(note === undefined ? [] : [note]),
      ].join('\n');
  process.stdout.write(`${text}\n`);
  if (errors > 0) say(`${errors} answers were missing or not what they should have been.`);
  return errors > 0 ? 1 : 0;
}

process.exitCode = await bench().catch((error: Error & { code?: unknown }) => {
  if (!String(error.code).startsWith('ERR_PARSE_ARGS')) throw error;
  return refuse(`${error.message.split('. ')[0]}. There are --quick, --only NAME and --json.`);
});
