import { endMisunderstood } from './command-line.ts'
import { BadConfiguration, describeConfig } from './config.ts'
import { ReadModelsReplaced } from './consumers/own-versions.ts'
import { LogMisconfigured } from './event-log/event-log.ts'
import { LogExchanged } from './installation.ts'
import { writeLog } from './log.ts'
import { lookForParentMs, parentOfShell } from './shell-parent.ts'

export type Running = {
  /** Ends what others ask of the process, while all that it does for them still goes on. Comes before the signal. */
  readonly drain?: () => Promise<void>
  readonly stop: () => Promise<void>
}

const stopWithinMs = 10_000
/** One Ctrl-C can arrive twice: from the terminal, and passed on by npm. */
const sameSignalMs = 1_000

/**
 * Calls a function when the npm that started this process is gone without having passed a signal on, because it was killed
 * alone: a service that nobody watches over would hold its port and its database.
 */
const whenNpmIsGone = (gone: () => void): void => {
  if (process.env['npm_lifecycle_event'] === undefined) return
  const parent = process.ppid
  const above = parentOfShell(parent)
  const looking = setInterval(() => {
    if (process.ppid === parent && parentOfShell(parent) === above) return
    clearInterval(looking)
    gone()
  }, lookForParentMs)
  looking.unref()
}

const lastLine = (name: string, text: string) => {
  writeLog()
  process.stderr.write(`\n${name} ${text}\n`)
}

/** The variables of the environment, as `--help` prints them. */
export const configHelp = (): string =>
  describeConfig()
    .map(({ name, byDefault, meaning }) => `  ${name}${byDefault === '' ? '' : `=${byDefault}`}\n      ${meaning}`)
    .join('\n')

/** The words that a process understands behind its name. */
export type Command = {
  /** As `--help` prints it. */
  readonly usage: string
  readonly understands: (words: readonly string[]) => boolean
}

const noCommand = (name: string): Command => ({
  usage: `${name} takes no words but --help, which lists its settings.\n`,
  understands: (words) => words.length === 0,
})

/**
 * Runs a process until it is stopped (SIGINT, SIGTERM) or an error is not caught: then it ends with
 * exit code 1 and a last line that says why. Stopping takes at most ten seconds; a second signal ends it at once.
 */
export const runProcess = (name: string, start: (signal: AbortSignal) => Promise<Running>, command?: Command): void => {
  const words = process.argv.slice(2)
  if (words.includes('--help')) {
    if (command) process.stdout.write(`${command.usage}\n`)
    process.stdout.write(`${name} is configured by the environment:\n\n${configHelp()}\n`)
    return
  }
  const { usage, understands } = command ?? noCommand(name)
  if (!understands(words)) endMisunderstood(words, usage)
  const stopping = new AbortController()
  let running: Running | undefined

  let stoppingSince = 0

  const end = async (code: number) => {
    if (stoppingSince > 0) {
      if (code === 0 && Date.now() - stoppingSince < sameSignalMs) return
      process.exit(code === 0 ? 130 : code)
    }
    stoppingSince = Date.now()
    setTimeout(() => {
      lastLine(name, `did not stop within ${stopWithinMs / 1000} s and was ended.`)
      process.exit(1)
    }, stopWithinMs).unref()
    await running?.drain?.()
    stopping.abort()
    await running?.stop()
    process.exit(code)
  }

  const fail = (error: unknown) => {
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error)
    const isSetting = error instanceof BadConfiguration || error instanceof LogMisconfigured
    if (isSetting) lastLine(name, `cannot start:\n${error.message}`)
    else
      lastLine(
        name,
        error instanceof LogExchanged || error instanceof ReadModelsReplaced
          ? `cannot go on:\n${error.message}`
          : `failed: ${reason}`,
      )
    end(1).catch(() => process.exit(1))
  }

  const stop = () => {
    end(0).catch(fail)
  }
  process.on('SIGINT', stop).on('SIGTERM', stop)
  whenNpmIsGone(stop)
  process.on('uncaughtException', fail).on('unhandledRejection', fail)
  start(stopping.signal).then((started) => {
    running = started
  }, fail)
}
