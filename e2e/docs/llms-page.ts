import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const DOCS = new URL('../../docs/', import.meta.url);

const SUMMARY =
  'An OAuth 2.0 authorization server and an HTTP resource server. Access tokens are JWTs that servers check without a network call, and the next request with a revoked token is refused. Countersign also puts sign-in, a gateway and a cache in front of other applications.';

/** `docs/llms.txt` (llmstxt.org): the links of `docs/README.md`, each with the first sentence of its page. */
export function llmsPage(): string {
  const sections = pageText('README.md').split(/^## /m).slice(1);
  return ['# Countersign', '', `> ${SUMMARY}`, '', ...sections.map(list)].join('\n');
}

function list(section: string): string {
  const title = section.split('\n', 1).join('');
  const links = [...section.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)];
  const entries = links.map(([, name = '', path = '']) => entry(name, path));
  return `## ${title}\n\n${entries.join('\n')}\n`;
}

function entry(name: string, path: string): string {
  const link = `- [${name[0]?.toUpperCase()}${name.slice(1)}](${path})`;
  return path.endsWith('.md') ? `${link}: ${firstSentence(pageText(path))}` : link;
}

const pageText = (path: string) => readFileSync(fileURLToPath(new URL(path, DOCS)), 'utf8');

/** Returns the first sentence below the title, without links and marks. */
function firstSentence(page: string): string {
  const paragraph =
    page
      .replaceAll(/^(?:#|<!--).*\n+/gm, '')
      .split(/\n{2,}/)
      .find((part) => /^[`*[A-Z]/.test(part)) ?? '';
  const text = paragraph.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1').replaceAll('\n', ' ');
  return /^.*?\.(?= [A-Z`*]|$)/.exec(text)?.[0] ?? text;
}
