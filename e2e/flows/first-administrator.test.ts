/** @needs script */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { commandLine } from '../pair/command-line.ts';
import { complaintsOf, launchBrowser, newPerson } from '../parts/browser.ts';
import { freePort } from '../parts/free-port.ts';
import { startProcess } from '../parts/process.ts';
import { startTlsFront } from '../parts/tls-front.ts';
import { virtualAuthenticator } from '../parts/virtual-authenticator.ts';
import { home, START } from './home.ts';

const running = new AsyncDisposableStack();
let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
  running.defer(() => browser.close());
});
afterAll(() => running.disposeAsync());

/** A newcomer's folder in production, with TLS in front of the authorization server. */
async function production() {
  const port = await freePort();
  const issuer = `https://localhost:${port}`;
  const own = running.use(
    await home({
      issuer,
      resource: 'https://api.example',
      trustedProxies: ['127.0.0.1'],
      spaces: [
        {
          url: 'https://api.example/documents/',
          realm: 'documents',
          schemes: ['Bearer'],
          scopes: { safe: ['documents:read'], unsafe: ['documents:write'] },
        },
      ],
    }),
  );
  const secret = join(own.file, '..', 'secret');
  await writeFile(secret, randomBytes(32).toString('base64'), { mode: 0o400 });
  const env = { ...own.env, COUNTERSIGN_SECRET_FILE: secret, COUNTERSIGN_WORKERS: '2' };
  return { ...own, issuer, port, env };
}

test('a first start at a terminal prints a link, by which a person makes a passkey and administers', async () => {
  const { issuer, port, env, ports, file } = await production();
  const command = `${process.execPath} ${START} authz`;
  const pair = running.use(
    await startProcess('script', ['-qefc', command, '/dev/null'], {
      env: { ...env, SHELL: '/bin/sh' },
      ready: (output) => output.includes('ready.'),
    }),
  );
  running.use(await startTlsFront(join(file, '..'), port, `http://127.0.0.1:${ports.authz}`));
  const links = pair.output.match(/https:\S+\/register\/[\w-]{22}/g) ?? [];
  expect(links).toHaveLength(1);
  expect(links[0]).toMatch(`${issuer}/`);

  const context = await newPerson(browser, {
    locale: 'de-DE',
    width: 390,
    ignoreHTTPSErrors: true,
  });
  const complaints = await complaintsOf(context);
  const page = await context.newPage();
  const device = await virtualAuthenticator(page);
  await page.addInitScript(
    'PublicKeyCredential.isConditionalMediationAvailable = async () => false',
  );
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  await page.goto(links[0] ?? '');
  await page.getByText('Mit diesem Konto verwalten Sie den Server.').waitFor();
  await page.getByLabel('Name').fill('dina');
  await press('Mit einem Passkey anlegen, ohne Passwort');
  await page.getByText('Ihr Name ist dina.').waitFor();
  expect(await device.credentials()).toMatchObject([{ userName: 'dina' }]);
  await page.goto(`${issuer}/account`);
  await press('Passkey benutzen');
  await page.getByRole('link', { name: 'Verwaltung' }).click();
  await page.getByRole('heading', { name: 'Verwaltung', level: 1 }).waitFor();
  await page.goto(links[0] ?? '');
  await page.getByRole('heading', { name: 'Dieser Link funktioniert nicht' }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
  await expect(commandLine(['admin', 'link'], env)).rejects.toThrow(
    'dina is an administrator who can sign in',
  );
  // The requests of the link are logged, each without its secret.
  const secret = links[0]?.split('/').at(-1) ?? '';
  expect(pair.output.split(secret)).toHaveLength(2);
});

test('a start without a terminal prints no link, and names the command that makes one', async () => {
  const { issuer, env } = await production();
  const pair = running.use(
    await startProcess(process.execPath, [START, 'authz'], {
      // A variable of the caller does not pretend a terminal.
      env: { ...env, COUNTERSIGN_TERMINAL: '1' },
      ready: (output) => output.includes('ready.'),
    }),
  );
  expect(pair.output).not.toContain('/register/');
  expect(pair.output).toContain('admin link');
  expect((await commandLine(['admin', 'link'], env))['link']).toMatch(
    new RegExp(`^${issuer}/register/[\\w-]{22}$`),
  );
});
