import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

/**
 * Each example of README.md, docs/tutorials and docs/how-to is run by a test, or this file says why not.
 */
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const filesIn = (folder: string, ending: string) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(ending))
    .map((path) => join(folder, path));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const PAGES = [
  'README.md',
  ...filesIn('docs/tutorials', '.md'),
  ...filesIn('docs/how-to', '.md'),
].toSorted();

/** The page, the beginning of the example, and why no test runs it as shown. */
const NOT_RUN: readonly (readonly [page: string, begin: string, why: string])[] = [
  ['README.md', 'npm ci && npm start', '.ci/run installs, and e2e/flows/start.test.ts starts'],
  ['README.md', 'docker build', 'needs an engine; e2e/image.test.ts builds and runs'],
  ['docs/how-to/docker.md', 'docker build', 'needs an engine; e2e/image.test.ts builds'],
  ['docs/how-to/docker.md', 'docker run', 'needs an engine; e2e/image.test.ts runs it'],
  ['docs/how-to/docker.md', 'cat > .env', 'needs Docker Compose; docker.test.ts reads the file'],
  [
    'docs/how-to/backup-restore-upgrade.md',
    'npm run -s cli -- restore /',
    'needs stopped servers; shared/cli/commands/restore.test.ts restores',
  ],
  [
    'docs/how-to/backup-restore-upgrade.md',
    'npm run -s cli -- restore --database',
    'needs stopped servers; shared/cli/commands/restore-postgres.test.ts runs it',
  ],
  ['docs/how-to/gateway.md', 'client ', 'a picture'],
  ['docs/how-to/kubernetes.md', 'docker build', 'needs an engine; e2e/image.test.ts builds'],
  ['docs/how-to/kubernetes.md', 'openssl rand', 'needs a cluster'],
  ['docs/how-to/kubernetes.md', 'kubectl apply', 'needs a cluster; kubernetes.test.ts checks them'],
  ['docs/how-to/kubernetes.md', 'kubectl exec', 'needs a cluster'],
  [
    'docs/how-to/mcp.md',
    'npm run -s cli -- login',
    'asks a person; e2e/flows/cli-login-code.test.ts signs in',
  ],
  [
    'docs/how-to/mcp-example.md',
    'npm run -s cli -- client add --name "Notes in a shell"',
    'asks a person; e2e/interop/mcp/behind-countersign.test.ts signs in',
  ],
  [
    'docs/how-to/coming-from-keycloak.md',
    'const keycloak',
    'e2e/interop/oauth/keycloak-js.test.ts signs in with these settings',
  ],
  [
    'docs/how-to/mcp-clients.md',
    'npm run -s cli -- client add --name mcp-remote',
    'the reader has other scopes',
  ],
  ['docs/how-to/run-in-production.md', 'sudo useradd', 'makes a user of the system'],
  ['docs/how-to/run-in-production.md', 'sudo install', 'writes to /etc'],
  [
    'docs/how-to/run-in-production.md',
    'sudo cp',
    'needs systemd; e2e/systemd.test.ts checks the unit',
  ],
  [
    'docs/how-to/sign-in-in-front.md',
    'COUNTERSIGN_CONFIG',
    'e2e/interop/sign-in/page.test.ts starts the pair with the same file',
  ],
  ['docs/how-to/sign-in-in-front.md', 'export', 'a test gives each command its configuration'],
  [
    'docs/tutorials/express-api.md',
    'COUNTERSIGN_CONFIG',
    'e2e/clients/guard/tutorial.test.ts starts the pair with the same file',
  ],
  ['docs/tutorials/express-api.md', 'export', 'a test gives each command its configuration'],
  [
    'docs/tutorials/express-api.md',
    'npm run pack:resource',
    'e2e/clients/guard/tutorial.test.ts packs and installs',
  ],
  [
    'docs/tutorials/express-api.md',
    'REPOSITORY=',
    'e2e/clients/guard/tutorial.test.ts packs and installs',
  ],
  [
    'docs/tutorials/express-api.md',
    'export CLIENT=',
    'e2e/clients/guard/tutorial.test.ts starts the API',
  ],
  [
    'docs/tutorials/express-api.md',
    'npx',
    'downloads another Node; the tests run the API with the Node of npm ci',
  ],
  [
    'docs/tutorials/first-ten-minutes.md',
    'npm ci && npm start',
    '.ci/run installs, and e2e/flows/start.test.ts starts',
  ],
  [
    'docs/tutorials/first-ten-minutes.md',
    '. data/first-start.env',
    'e2e/pair/examples.ts reads the file before each example',
  ],
  [
    'docs/tutorials/first-ten-minutes.md',
    'npm run -s cli -- login',
    'asks a person; e2e/flows/cli-login.test.ts signs in',
  ],
];

/** Things that we have not tried, and the sentence with which the page says so. */
const NOT_TRIED: readonly (readonly [page: string, words: string])[] = [
  ['docs/how-to/docker.md', 'Docker, Podman'],
  ['docs/how-to/forward-auth.md', 'Traefik'],
  ['docs/how-to/identity-fields.md', 'Grafana and Jupyter'],
  ['docs/how-to/kubernetes.md', 'a cluster'],
  ['docs/how-to/mcp-clients.md', 'the inspector'],
  ['docs/how-to/mount-a-drive.md', 'Windows and the Finder'],
  ['docs/how-to/run-in-production.md', 'the unit'],
  ['docs/how-to/sign-in-in-front.md', 'Traefik'],
  ['docs/how-to/watch.md', 'Grafana'],
  ['README.md', 'macOS, Windows or Alpine'],
  ['docs/reference/clients.md', 'passport-oauth2'],
  ['docs/reference/conformance.md', 'the suite itself'],
];

const blocks = PAGES.flatMap((page) =>
  [...read(page).matchAll(/^```([^\n]*)\n(.*?)^```$/gms)].map(([, info = '', text = '']) => ({
    page,
    info,
    text,
  })),
);

test('an example without a name in its fence is in this list', () => {
  const unnamed = blocks.filter(({ info }) => !info.includes(' ') && info !== 'json');
  const listed = unnamed.filter(({ page, text }) =>
    NOT_RUN.some(([of, begin]) => of === page && text.startsWith(begin)),
  );
  expect(unnamed.filter((block) => !listed.includes(block))).toEqual([]);
  expect(listed).toHaveLength(NOT_RUN.length);
});

test('an example with a name is used by a test', () => {
  const sources = ['e2e', 'shared', 'resource-server', 'authz-server']
    .flatMap((folder) => filesIn(folder, '.test.ts'))
    .map(read);
  /** The name as a test writes it: 'sh tour', or with a language as an argument. */
  const asked = (info: string) => {
    const [, name = ''] = info.split(' ');
    return sources.some((source) => source.includes(`'${info}'`) || source.includes(`} ${name}\``));
  };
  const named = blocks.filter(({ info }) => info.includes(' ') && !info.startsWith('json'));
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter(({ info }) => !asked(info))).toEqual([]);
});

test('a page says what we have not tried, and this list contains all such sentences', () => {
  const said = [...filesIn('docs', '.md'), 'README.md'].flatMap((page) =>
    read(page)
      .split('\n')
      .filter((line) => /have not (?:tried|run)/.test(line))
      .map((line): [string, string] => [page, line]),
  );
  const missing = NOT_TRIED.filter(
    ([page, words]) => !said.some(([of, line]) => of === page && line.includes(words)),
  );
  expect(missing).toEqual([]);
  expect(said.map(([page]) => page).toSorted()).toEqual(NOT_TRIED.map(([page]) => page).toSorted());
});
