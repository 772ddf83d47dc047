import { writeFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { inProcess, json, newData, TestShell } from '../cli.fixture.ts';

/** A shell whose configuration has these members. */
async function configured(members: object): Promise<TestShell> {
  const env = await newData();
  const file = `${env.COUNTERSIGN_DATA}.json`;
  await writeFile(file, JSON.stringify(members));
  return new TestShell({ ...env, COUNTERSIGN_CONFIG: file });
}

test('realm list prints spaces in order, then the proxy, with their schemes and stored verifiers', async () => {
  const url = (path: string) => `http://localhost:3001/${path}/`;
  const shell = await configured({
    listen: { proxy: { host: '::1', port: 8080 } },
    privateTokens: {},
    spaces: [
      {
        url: url('b'),
        realm: 'b',
        schemes: ['Bearer', 'Basic', 'PrivateToken'],
        privateToken: { types: ['voprf-p384'] },
      },
      {
        url: url('a'),
        realm: 'a',
        schemes: ['Mutual', 'SCRAM-SHA-256', 'Digest', 'API-Key'],
        mutual: { algorithm: 'iso-kam3-ec-p521-sha512' },
        digest: { algorithms: ['SHA-512-256', 'SHA-256-sess'] },
      },
    ],
    proxy: { realm: 'gate', schemes: ['Digest', 'Basic'] },
  });
  expect(await json(shell, 'realm', 'list')).toEqual([
    {
      url: url('b'),
      realm: 'b',
      schemes: ['Bearer', 'Basic', 'PrivateToken'],
      algorithms: [],
      types: ['voprf-p384'],
      mutual: [],
      keeps: { digest: [], mutual: [], scram: [] },
    },
    {
      url: url('a'),
      realm: 'a',
      schemes: ['Mutual', 'SCRAM-SHA-256', 'Digest', 'API-Key'],
      algorithms: ['SHA-512-256', 'SHA-256-sess'],
      types: [],
      mutual: ['iso-kam3-ec-p521-sha512'],
      keeps: {
        digest: ['SHA-512-256', 'SHA-256'],
        mutual: ['iso-kam3-ec-p521-sha512'],
        scram: ['SHA-256'],
      },
    },
    {
      url: 'http://[::1]:8080',
      realm: 'gate',
      schemes: ['Digest', 'Basic'],
      algorithms: ['SHA-256'],
      types: [],
      mutual: [],
      keeps: { digest: ['SHA-256'], mutual: [], scram: [] },
    },
  ]);
  const { stdout } = await inProcess(shell, 'realm', 'list');
  expect(stdout.split('\n').map((line) => line.replaceAll(/ {2,}/g, ' | '))).toEqual([
    'URL | REALM | SCHEMES | KEPT OF EACH PERSON',
    `${url('b')} | b | Bearer, Basic, PrivateToken (voprf-p384)`,
    `${url('a')} | a | Mutual (iso-kam3-ec-p521-sha512), SCRAM-SHA-256, Digest (SHA-512-256, SHA-256-sess), API-Key | HA1 of SHA-512-256, HA1 of SHA-256, J of iso-kam3-ec-p521-sha512 for localhost, keys of SCRAM-SHA-256`,
    'http://[::1]:8080 | gate | Digest (SHA-256), Basic | HA1 of SHA-256',
    '',
  ]);
});

test('realm list shows that two spaces of one realm share their verifiers', async () => {
  const shell = await configured({
    spaces: [
      { url: 'http://localhost:3001/a/', realm: 'r', schemes: ['SCRAM-SHA-1'] },
      { url: 'https://other.example/', realm: 'r', schemes: ['Digest'], serves: 'verify' },
    ],
  });
  const keeps = { digest: ['SHA-256'], mutual: [], scram: ['SHA-1'] };
  expect(await json(shell, 'realm', 'list')).toMatchObject([{ keeps }, { keeps }]);
});

test('realm list refuses an operand as wrong usage', async () => {
  expect((await inProcess(new TestShell(await newData()), 'realm', 'list', 'x')).code).toBe(2);
});
