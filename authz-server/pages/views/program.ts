import type { Texts } from '../texts/index.ts';

/** The first pattern that meets a `User-Agent` names the browser: browsers also name the ones below them. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS|HeadlessChrome)\//, 'Chrome'],
  [/\bVersion\/[\d.]+ .*\bSafari\//, 'Safari'],
];

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\bAndroid\b/, 'Android'],
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bWindows NT\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

const LONGEST = 60;

/**
 * Returns a short name for a `User-Agent` field: browser and system, or its beginning. The field is the sender's own
 * claim, and proves nothing.
 */
export function programName(agent: string, texts: Texts): string {
  const browser = BROWSERS.find(([pattern]) => pattern.test(agent))?.[1];
  const system = SYSTEMS.find(([pattern]) => pattern.test(agent))?.[1];
  if (browser !== undefined && system !== undefined) return texts.programOn(browser, system);
  const plain = agent.replaceAll(/[^\x20-\x7e]+/g, ' ').trim();
  return plain.length > LONGEST ? `${plain.slice(0, LONGEST)}…` : plain;
}
