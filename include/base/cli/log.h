/*
 * Messages on stderr: "program: warning: text". For `main` and commands only; rooms below return
 * errors instead. The level is the only global state of a program.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* Names the program (borrowed, until the last message) and sets which levels are shown. */
void log_init(const char *program, enum log_level level);

/* Writes one line in one write(2), if the level is shown. Control bytes in the text become \xNN. */
void log_message(enum log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define log_error(...)   log_message(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_message(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...)    log_message(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)   log_message(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
