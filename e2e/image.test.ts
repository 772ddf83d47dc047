/** The image of the Dockerfile: buildah builds it, and it runs with a file system, a network and processes of its own. */
import { chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Container, type ContainerOptions, runImage } from './container.ts';
import { type Image, ImageBuild } from './image.ts';
import { until } from './parts/process.ts';
import { type TemporaryFolder, temporaryFolder } from './parts/temporary-folder.ts';

const USER = 1000;

const parts = new AsyncDisposableStack();
let image: Image;
let folder: TemporaryFolder;

let build: ImageBuild;
// Jest gives each step as much time as a test.
beforeAll(async () => {
  folder = parts.use(await temporaryFolder());
  build = parts.use(await ImageBuild.begin());
  await build.base();
});
beforeAll(() => build.image());
beforeAll(async () => {
  image = await build.container();
});
afterAll(() => parts.disposeAsync());

/** A new volume, which belongs to the user of the image, as an engine makes it. */
async function volume(name: string): Promise<string> {
  const path = join(folder.path, name);
  await mkdir(path, { mode: 0o700 });
  await chown(path, USER, USER);
  return path;
}

async function started(options: ContainerOptions): Promise<Container> {
  const container = await runImage(image, options);
  await until(() => {
    if (container.exitCode !== null) throw new Error(container.output);
    return / ready\.$/m.test(container.output);
  });
  return container;
}

/** Resolves to what a container says that does not start. */
async function refused(options: ContainerOptions): Promise<string> {
  await using container = await runImage(image, options);
  await container.exited();
  expect(container.exitCode).toBe(1);
  return container.output;
}

const health = () => image.settings.Healthcheck.Test.slice(1);

test('the image says its ports, volume, user and license, and checks its health', () => {
  const { ExposedPorts, Volumes, User, Labels, Healthcheck } = image.settings;
  expect(Object.keys(ExposedPorts)).toEqual(['3000/tcp', '3001/tcp']);
  expect(Object.keys(Volumes)).toEqual(['/data']);
  expect(User).toBe('node');
  expect(Labels).toMatchObject({
    'org.opencontainers.image.title': 'Countersign',
    'org.opencontainers.image.licenses': 'Apache-2.0',
  });
  expect(Healthcheck.Test[0]).toBe('CMD');
});

test('docker run without variables is development, which the machine reaches by the published ports', async () => {
  const data = await volume('first');
  await using container = await started({ volume: data });
  expect(container.output).toMatch(/^ {2}development +listens at 0\.0\.0\.0: publish its ports/m);
  expect(container.output).not.toContain('oidc-provider');

  for (const port of [3000, 3001]) {
    await until(async () => (await container.ask(port, '/health/ready')).status === 200);
    expect((await container.ask(port, '/')).status).toBe(200);
    expect((await container.ask(port, '/', { host: 'evil.example' })).status).toBe(421);
  }
  expect(await container.exec(health())).toContain('The resource server is ready.');

  const add = ['client', 'add', '--name', 'A', '--grant', 'client_credentials'];
  const scope = ['--scope', 'documents:read', '--json'];
  const added = await container.exec(['countersign', ...add, ...scope]);
  const { client_id, client_secret } = JSON.parse(added) as Record<string, string>;
  const asked = {
    authorization: `Basic ${btoa(`${client_id}:${client_secret}`)}`,
    'content-type': 'application/x-www-form-urlencoded',
  };
  const { text } = await container.ask(3000, '/token', asked, 'grant_type=client_credentials');
  const token = JSON.parse(text) as { access_token: string };
  const authorization = `Bearer ${token.access_token}`;
  expect((await container.ask(3001, '/documents/', { authorization })).status).toBe(200);
  expect((await container.ask(3001, '/documents/')).status).toBe(401);

  // RFC 7617 section 4: the server cannot know how far clear text comes.
  const basic = { authorization: `Basic ${btoa('demo:x')}` };
  expect((await container.ask(3001, '/schemes/basic/', basic)).status).toBe(403);

  await container.stop();
  expect(container.exitCode).toBe(0);
});

test('production by variables and secrets in files: one server at another port, and its health', async () => {
  const data = await volume('production');
  await writeFile(join(data, 'master'), `${'s'.repeat(40)}\n`, { mode: 0o444 });
  await writeFile(join(data, 'issuer'), 'https://auth.example\n');
  const env = {
    COUNTERSIGN_ISSUER_FILE: '/data/issuer',
    COUNTERSIGN_RESOURCE: 'https://api.example',
    COUNTERSIGN_SECRET_FILE: '/data/master',
    COUNTERSIGN_TRUSTED_PROXIES: '["198.18.0.0/15"]',
    COUNTERSIGN_LISTEN_AUTHZ_PORT: '8080',
    COUNTERSIGN_TLS_RESOURCE: 'https://api.example:3443',
    COUNTERSIGN_TLS_CERTIFICATE: '/data/cert.pem',
    COUNTERSIGN_TLS_KEY: '/data/key.pem',
    COUNTERSIGN_WORKERS: '1',
    COUNTERSIGN_SERVICE_HOST: '10.0.0.1',
    COUNTERSIGN_PORT: 'tcp://10.0.0.1:3000',
  };
  await using container = await started({ volume: data, command: ['start', 'authz'], env });
  expect(container.output).not.toContain('  development ');
  await until(async () => (await container.ask(8080, '/health/ready')).status === 200);
  const metadata = await container.ask(8080, '/.well-known/openid-configuration');
  expect(JSON.parse(metadata.text)).toMatchObject({ issuer: 'https://auth.example' });
  expect(await container.exec(health())).toBe(
    'The authorization server is ready.\nThe resource server does not run here.\n',
  );
  await container.stop();
  expect(container.exitCode).toBe(0);
});

test.each<[what: string, options: Partial<ContainerOptions>, line: RegExp]>([
  ['a user without rights to it', { user: 4711 }, /COUNTERSIGN_DATA: needs .*\/data.* \(EACCES\)/],
  ['a volume that is read only', { volumeReadOnly: true }, /COUNTERSIGN_DATA: needs .*\(EROFS\)/],
  [
    'a misspelt variable',
    { env: { COUNTERSIGN_ISUER: 'https://auth.example' } },
    /COUNTERSIGN_ISUER: .* did you mean COUNTERSIGN_ISSUER\?/,
  ],
  [
    'production without a secret',
    { env: { COUNTERSIGN_ISSUER: 'https://auth.example' } },
    /COUNTERSIGN_SECRET: is missing/,
  ],
])('a start is refused in one line for %s', async (what, options, line) => {
  expect(await refused({ volume: await volume(what), ...options })).toMatch(line);
});

test('another user runs it in a folder of that user', async () => {
  const data = await volume('other');
  await chown(data, 4711, 4711);
  await using container = await started({
    volume: data,
    user: 4711,
    command: ['start', 'resource'],
  });
  await container.stop();
  expect(container.exitCode).toBe(0);
});

test('the image has the bundle and the packages that it needs, and no Node but its own', async () => {
  await using container = await started({ volume: await volume('files') });
  const find = (...args: readonly string[]) => container.exec(['find', '/app', ...args]);
  expect(await find('-name', 'node', '-size', '+1M')).toBe('');
  expect(await find('-name', '*.ts', '-not', '-path', '*/node_modules/*')).toBe('');
  expect(await find('-path', '*/node_modules/*esbuild', '-o', '-path', '*/node_modules/jest')).toBe(
    '',
  );
  expect(await container.exec(['countersign', '--version'])).toMatch(/^countersign \d/);
});
