/** Words that people write, by themselves, to receive no more, as message gateways know them. */
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

/** The reply says nothing else. Of a mail, the first line that is no quotation counts. */
export const asksToStop = (text: string): boolean => {
  const first = text.split(/\r?\n/).find((line) => /^\s*[^\s>]/.test(line)) ?? ''
  const said = first
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
  return words.has(said.replace(/ please$/, ''))
}
