import { Presets, SingleBar } from 'cli-progress'

export type Output = NodeJS.WritableStream & { readonly isTTY?: boolean }

/** The output of a command, which ends quietly with whoever reads it: `| head` reads the beginning. */
export const toReader = <Out extends Output>(output: Out, end: () => void = () => process.exit(0)): Out => {
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    end()
  })
  return output
}

type Shown = {
  readonly report: (progress: { readonly done: number; readonly total: number }) => void
  readonly end: () => void
}

/** The progress of a command: a bar in a terminal, otherwise a line for each tenth. */
export const progressShown = (name: string, output: Output): Shown =>
  output.isTTY ? bar(name, output) : lines(name, output)

const bar = (name: string, output: Output): Shown => {
  const shown = new SingleBar(
    { format: `${name} {bar} {percentage} %  {eta_formatted} left`, stream: output },
    Presets.shades_classic,
  )
  shown.start(1, 0)
  return {
    report: ({ done, total }) => {
      shown.setTotal(total)
      shown.update(done)
    },
    end: () => shown.stop(),
  }
}

const lines = (name: string, output: Output): Shown => {
  let tenths = -1
  return {
    report: ({ done, total }) => {
      const reached = Math.floor((10 * done) / Math.max(1, total))
      if (reached === tenths) return
      tenths = reached
      output.write(`${name} ${reached * 10} %\n`)
    },
    end: () => undefined,
  }
}
