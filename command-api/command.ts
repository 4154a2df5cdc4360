import type { Command } from '#infra/process.ts'

/** The halves of the role: what requests ask for, and what is done without a request. */
export type Half = 'serve' | 'work'

const halvesByWords = new Map<string, readonly Half[]>([
  ['', ['serve', 'work']],
  ['--serve', ['serve']],
  ['--work', ['work']],
])

/** The halves that a process is to do; undefined where its words are not understood. */
export const halvesOf = (words: readonly string[]): readonly Half[] | undefined => halvesByWords.get(words.join(' '))

export const command: Command = {
  usage: `Usage: npm run command-api [-- --serve | --work]

  --serve   only answers requests
  --work    only works without requests: reactions, timers, collections, outreach, reading of leads

Without a word it does both. Give one word at most.
`,
  understands: (words) => halvesOf(words) !== undefined,
}
