/** One sleeper and those who wake it. Who is changes while awake does not fall asleep the next time. */
export const notifier = () => {
  let isWoken = false
  let rise: (() => void) | undefined

  return {
    notify: () => {
      isWoken = true
      rise?.()
    },
    /** Until changes, or at most so long. */
    wait: async (milliseconds?: number): Promise<void> => {
      if (!isWoken)
        await new Promise<void>((resolve) => {
          const timer = milliseconds === undefined ? undefined : setTimeout(resolve, milliseconds)
          rise = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      rise = undefined
      isWoken = false
    },
  }
}
