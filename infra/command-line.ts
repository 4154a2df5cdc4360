import { parseArgs, type ParseArgsConfig } from 'node:util'

/**
 * The options of a command. `--help` prints how the command is used, and so does what it does not know, with exit code 2:
 * the command then does nothing.
 */
export const readOptions = <const Known extends ParseArgsConfig>(
  usage: string,
  known: Known,
): ReturnType<typeof parseArgs<Known>> => {
  if (process.argv.slice(2).includes('--help')) {
    process.stdout.write(usage)
    process.exit(0)
  }
  try {
    return parseArgs(known)
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`)
    process.exit(2)
  }
}

/** Ends a command that is not understood before it reaches for anything. */
export const endMisunderstood = (words: readonly string[], usage: string, fault = faultOf(words)): never => {
  process.stderr.write(`${fault}\n\n${usage}`)
  process.exit(2)
}

const faultOf = (words: readonly string[]): string =>
  words.length === 0 ? 'Say what is to be done.' : `${JSON.stringify(words.join(' '))} is not understood.`
