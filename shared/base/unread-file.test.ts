import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { temporaryFolder } from './temporary.fixture.ts';
import { unreadFile } from './unread-file.js';

test('unreadFile reports a configuration in the working directory that COUNTERSIGN_CONFIG does not name', async () => {
  const folder = await temporaryFolder();
  expect(unreadFile({}, folder)).toBeUndefined();
  await writeFile(join(folder, 'countersign.json'), '{}');
  const line = expect.stringContaining('set COUNTERSIGN_CONFIG=countersign.json');
  expect(unreadFile({}, folder)).toEqual(line);
  expect(unreadFile({ COUNTERSIGN_CONFIG: '' }, folder)).toEqual(line);
  expect(unreadFile({ COUNTERSIGN_CONFIG: 'other.json' }, folder)).toBeUndefined();
});
