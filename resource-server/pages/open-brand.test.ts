import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { openBrand } from './open-brand.ts';

const BRAND = { name: 'Operator', color: '#1f5fbf' };

test('the logo is in the page itself; a long or a missing one is left out', async () => {
  const folder = await temporaryFolder();
  const [short, long] = [join(folder, 'short.png'), join(folder, 'long.svg')];
  const picture = randomBytes(32_768);
  await writeFile(short, picture);
  await writeFile(long, randomBytes(32_769));
  const logo = `data:image/png;base64,${picture.toString('base64')}`;
  expect(await openBrand({ ...BRAND, logo: short })).toEqual({ ...BRAND, logo });
  for (const none of [long, join(folder, 'none.svg'), undefined]) {
    expect(await openBrand({ ...BRAND, logo: none })).toEqual(BRAND);
  }
});
