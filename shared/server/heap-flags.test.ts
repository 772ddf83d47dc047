import { execFileSync } from 'node:child_process';
import { expect, test } from '@jest/globals';

test('a server exposes gc and then sets its flags of V8', () => {
  const file = new URL('heap-flags.ts', import.meta.url).href;
  const script = `
    import { cachedDataVersionTag as tag } from 'node:v8';
    const before = [typeof gc, tag()];
    const { setHeapFlags } = await import('${file}');
    const collect = setHeapFlags();
    const held = new WeakRef({});
    await new Promise((resolve) => setTimeout(resolve));
    await collect({ type: 'major', execution: 'async' });
    console.log(before[0], collect === gc, held.deref(), before[1] === tag());`;
  const flags = ['--input-type=module', '--eval', script];
  expect(execFileSync(process.execPath, flags, { encoding: 'utf8' })).toBe(
    'undefined true undefined false\n',
  );
});
