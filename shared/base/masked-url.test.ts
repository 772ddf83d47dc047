import { expect, test } from '@jest/globals';
import { maskedUrl } from './masked-url.ts';

test('a masked URL never shows its password', () => {
  expect(maskedUrl('redis://u:hunter2@h:1')).toBe('redis://u:***@h:1');
  expect(maskedUrl('redis://:hunter2@h:1')).toBe('redis://:***@h:1');
  expect(maskedUrl('redis://h:1')).toBe('redis://h:1');
  expect(maskedUrl('redis://u:hunter2@')).toBe('***');
  expect(maskedUrl('postgres://u:hunter2@h/db?sslmode=require')).toBe(
    'postgres://u:***@h/db?sslmode=require',
  );
});
