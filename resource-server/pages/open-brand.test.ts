import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { openBrand } from './open-brand.ts';

const BRAND = { name: 'Operator', color: '#1f5fbf', links: [] };
const issuer = 'https://auth.example';

test('the logo is embedded in the page, unless it is too long or missing', async () => {
  const folder = await temporaryFolder();
  const [short, long] = [join(folder, 'short.png'), join(folder, 'long.svg')];
  const picture = randomBytes(32_768);
  await writeFile(short, picture);
  await writeFile(long, randomBytes(32_769));
  const logo = `data:image/png;base64,${picture.toString('base64')}`;
  expect(await openBrand({ brand: { ...BRAND, logo: short }, issuer })).toEqual({ ...BRAND, logo });
  for (const none of [long, join(folder, 'none.svg'), undefined]) {
    expect(await openBrand({ brand: { ...BRAND, logo: none }, issuer })).toEqual(BRAND);
  }
});

test('a link that is a path leads to the authorization server, not to the application at this origin', async () => {
  const text = { en: 'Help', de: 'Hilfe' };
  const links = [
    { text, url: '/help?from=pages#top' },
    { text, url: 'https://www.example/help' },
  ];
  expect((await openBrand({ brand: { ...BRAND, links }, issuer })).links).toEqual([
    { text, url: 'https://auth.example/help?from=pages#top' },
    { text, url: 'https://www.example/help' },
  ]);
});
