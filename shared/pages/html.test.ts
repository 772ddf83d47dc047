import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { html, strong, styleElement } from './html.ts';
import type { HtmlValue } from './html.ts';

describe('html', () => {
  test('html escapes text and numbers, in content and in attributes', () => {
    const value = `<script>"'&`;
    expect(String(html`<p title="${value}">${value}${1}</p>`)).toBe(
      '<p title="&lt;script&gt;&quot;&#39;&amp;">&lt;script&gt;&quot;&#39;&amp;1</p>',
    );
  });

  test('html nests without escaping twice, joins arrays, and omits undefined and false', () => {
    const more: readonly HtmlValue[] = [strong('<c>'), undefined, false];
    const all = html`${[html`<i>${'a&b'}</i>`, more]}${undefined}${false}`;
    expect(String(all)).toBe('<i>a&amp;b</i><strong>&lt;c&gt;</strong>');
  });

  test('HTML that was turned into text is escaped', () => {
    expect(String(html`${String(strong('a'))}`)).toBe('&lt;strong&gt;a&lt;/strong&gt;');
  });

  test('any text in a template never ends an element or an attribute', () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        const written = String(html`${text}`);
        expect(written).not.toMatch(/[<>"']/);
        expect(written.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, '')).not.toContain('&');
      }),
    );
  });

  test('the indentation of a template is removed, except in pre and textarea, and in values', () => {
    const value = 'a\n    b';
    expect(
      String(
        html`<p>
          ${value}
          <i title="${value}"></i>
        </p>`,
      ),
    ).toBe(`<p>\n${value}\n<i title="${value}"></i>\n</p>`);
    for (const kept of [
      html`<pre class="x">
        a ${value}
        b</pre>
        <b></b>`,
      html`<textarea>
        a ${value}
        b</textarea>
        <b></b>`,
    ]) {
      expect(String(kept)).toMatch(/^<[^>]+>\n {8}a a\n {4}b\n {8}b<\/[a-z]+>\n<b><\/b>$/);
    }
  });

  test('a style element contains its style unescaped', () => {
    const style = 'a > b { content: "x" }';
    expect(String(styleElement(style))).toBe(`<style>${style}</style>`);
  });
});
