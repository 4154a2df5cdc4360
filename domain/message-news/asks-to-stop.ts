/** What people write, by itself, to receive no more: the words that message gateways know. */
const words: ReadonlySet<string> = new Set([
  'stop',
  'stopall',
  'stop all',
  'unsubscribe',
  'cancel',
  'end',
  'quit',
  'opt out',
  'optout',
])

/** Whether a reply says nothing else. Of a mail that is the first line which is no quotation. */
export const asksToStop = (text: string): boolean => {
  const first = text.split(/\r?\n/).find((line) => /^\s*[^\s>]/.test(line)) ?? ''
  const said = first
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
  return words.has(said.replace(/ please$/, ''))
}
